/** The logo that the customer sees on the page of a checkout. */
export const MERCHANT_LOGO = `
ALTER TABLE wallet.checkout ADD COLUMN merchant_logo_url text;
`;

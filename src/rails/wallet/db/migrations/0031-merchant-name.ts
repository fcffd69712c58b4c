/** The name that the customer sees on the page of a checkout. */
export const MERCHANT_NAME = `
ALTER TABLE wallet.checkout ADD COLUMN merchant_name text;
`;

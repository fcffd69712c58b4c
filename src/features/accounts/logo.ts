/** The logo of an account, which its customers see beside its name. */
import { createHash } from 'node:crypto';
import { lockAccount } from '../../db/accounts/accounts';
import { deleteLogo, findLogoName, type LogoName, saveLogo } from '../../db/accounts/logos';
import { LOGO_BYTES_MAX, LOGO_PIXELS, readImage } from '../../domain/logo';
import { defineChange } from '../../kit/service/change';
import { InvalidInput } from '../../kit/service/refusal';

/** Shows a new logo to the customers, or none. */
export const changeLogo = defineChange({
  action: 'account.logo',
  access: { needs: 'manage' },
  fields: {},
  run: async (tx, { accountId, content }: { accountId: string; content: Buffer | null }) => {
    await lockAccount(tx, accountId);
    const before = await findLogoName(tx, accountId);
    const after = content === null ? null : readLogo(content);
    if (after === null) await deleteLogo(tx, accountId);
    else await saveLogo(tx, accountId, after);
    const audited = (logo: LogoName | null) =>
      logo === null ? null : { object: 'logo', type: logo.type, sha256: logo.sha256 };
    return {
      result: null,
      audit: {
        ...{ object: 'account', objectId: accountId, accountId },
        ...{ before: audited(before), after: audited(after) },
      },
    };
  },
});

/** @throws InvalidInput */
function readLogo(content: Buffer) {
  if (content.length === 0) throw new InvalidInput('logo', { code: 'no_file' });
  if (content.length > LOGO_BYTES_MAX) throw new InvalidInput('logo', { code: 'file_too_large' });
  const image = readImage(content);
  if (image === null) throw new InvalidInput('logo', { code: 'not_an_image' });
  const { type, width, height } = image;
  const { min, max } = LOGO_PIXELS;
  if (Math.min(width, height) < min || Math.max(width, height) > max) {
    throw new InvalidInput('logo', { code: 'image_size', width, height });
  }
  return { type, content, sha256: createHash('sha256').update(content).digest('hex') };
}

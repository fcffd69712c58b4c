/** Not the gateway that all files share, because lists of the console and thresholds hold for all accounts. */
import { createMerchant } from '../../support/merchant/merchant';
import { sharedInRoom } from '../../support/room';
import { startGateway } from '../../support/servers/gateway';

const shared = sharedInRoom('gateway', startGateway);

/** With a merchant for the part alone. */
export async function startConsole() {
  const gateway = await shared();
  return { ...gateway, merchant: await createMerchant(gateway.db, gateway.pepper) };
}

import { PROVIDER_CODES } from '../../../domain/provider-codes';
import { words } from '../../../kit/pages/components';

/** What a customer pays with: `USDT tron` is "USDT on Tron". */
export function routeText(route: string): string {
  const [currency = '', way = ''] = route.split(' ');
  const isProvider = PROVIDER_CODES.some((code) => code === way);
  return `${currency} ${isProvider ? 'with' : 'on'} ${words(way)}`;
}

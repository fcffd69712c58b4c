/** The languages of the hosted page, each in a file of its own. */
import { de } from './de';
import { en, type Messages } from './en';
import { es } from './es';
import { fr } from './fr';
import { pt } from './pt';

export type { Messages };

export const LANGUAGES = { en, de, es, fr, pt } as const satisfies Record<string, Messages>;
export type Language = keyof typeof LANGUAGES;

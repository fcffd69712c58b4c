/** Rules that bodies and queries share, as patterns (read with the `u` flag). */
export const CURRENCY = '^[A-Z0-9]{2,12}$';

/** The characters; the length is a rule of its own. */
export const REFERENCE = '^[A-Za-z0-9_-]*$';

/** What PostgreSQL can keep as text: no NUL, and no half of a surrogate pair. */
export const STORABLE_TEXT = '^[^\\u0000\\p{Cs}]*$';

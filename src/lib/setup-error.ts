/** Something that the person at the terminal can put right: shown as its sentence alone. */
export class SetupError extends Error {}

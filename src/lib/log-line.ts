/** Takes one line of progress for a human: the terminal of `npm start`, or nothing in a test. */
export type LogLine = (line: string) => void;

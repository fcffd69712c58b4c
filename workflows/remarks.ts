/** The remarks on a workflow's page: what came in and changed nothing, and why. */
import { CancellationScope, setDefaultSignalHandler } from '@temporalio/workflow';

/** So many are kept on the page; older ones stand in the history. */
const SHOWN = 5;

export class Remarks {
  readonly #signals: string;
  readonly #changed: () => void;
  #sentences: string[] = [];

  /**
   * @param signals those that there are, for the remark about others
   * @param changed shows the page anew
   */
  constructor(signals: string, changed: () => void) {
    this.#signals = signals;
    this.#changed = changed;
  }

  get sentences(): readonly string[] {
    return this.#sentences;
  }

  add(sentence: string): void {
    this.#sentences = [...this.#sentences, sentence].slice(-SHOWN);
    this.#changed();
  }

  /** "Request cancellation" in Temporal's UI is answered with a remark; the workflow goes on. */
  noteCancellationRequests(instead: string): void {
    CancellationScope.current().cancelRequested.catch(() => {
      this.add(
        `A cancellation was requested here. It changes nothing: use \`${instead}\` instead.`,
      );
    });
  }

  /**
   * Takes what has come in under other names. The handler is there for this moment only: with one
   * that stays, the SDK throws at a name that begins with `__temporal_`, each time it meets it,
   * and the workflow would stand still for ever. Here the throw is caught and the signal is gone.
   */
  noteUnknownSignals(): void {
    try {
      setDefaultSignalHandler((name) => {
        this.add(`\`${name}\` was ignored: the signals are ${this.#signals}.`);
      });
    } catch {
      this.add('A signal with a reserved name was ignored.');
    }
    setDefaultSignalHandler(undefined);
  }
}

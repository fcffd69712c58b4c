/**
 * The operator's side of a workflow, the same for payouts, payments and webhook deliveries: takes
 * the signals, keeps the newest report of where the object stands, and shows it as current details
 * and search attributes.
 */
import {
  CancellationScope,
  condition,
  defineSignal,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Decision } from './messages';
import { SIGNALS } from './names';

/** The page shows the newest remarks; older ones are in the history. */
const REMARKS_MAX = 5;

type SignalName = keyof typeof SIGNALS;
type Attributes = Record<string, string[] | boolean[]>;

/** A signal that operators send by hand, with an example of its input. */
export type OperatorSignals<Name extends SignalName = SignalName> = Partial<Record<Name, object>>;

export abstract class Inbox<State extends object> {
  protected readonly id: string;
  readonly #signals: OperatorSignals;
  #state: State | null = null;
  #remarks: readonly string[] = [];
  #shown: string | null = null;

  /** @param insteadOfCancel the signal to send when "Request cancellation" was meant */
  constructor(id: string, signals: OperatorSignals, insteadOfCancel: SignalName) {
    this.id = id;
    this.#signals = signals;
    this.#remarkCancellationRequests(insteadOfCancel);
  }

  /** @returns Markdown, or null when there is nothing to show yet */
  protected abstract describe(state: State | null, remarks: readonly string[]): string | null;

  protected abstract attributesOf(state: State): Attributes;

  get state(): State {
    if (this.#state === null) throw new Error(`${this.id} has not been reported yet`);
    return this.#state;
  }

  /** Null until the first report. */
  protected get known(): State | null {
    return this.#state;
  }

  take(state: State): void {
    this.#state = state;
    this.show();
  }

  remark(sentence: string): void {
    this.#remarks = [...this.#remarks, sentence].slice(-REMARKS_MAX);
    this.show();
  }

  /** Waits until something has happened, or the time is over. */
  async waitUntil(happened: () => boolean, timer?: { ms: number; summary: string }): Promise<void> {
    const done = (): boolean => {
      this.#remarkUnknownSignals();
      return happened();
    };
    if (timer === undefined) await condition(done);
    else await condition(done, timer.ms, { summary: timer.summary });
  }

  /**
   * Handles a signal that operators send by hand. What does not count becomes a remark with the
   * line to type.
   * @param read a sentence about what is wrong with the input, or what was read of it
   */
  protected onOperatorSignal<T>(
    name: SignalName,
    read: (args: readonly unknown[]) => T | string,
    handle: (input: T) => void,
  ): void {
    setHandler(defineSignal<unknown[]>(SIGNALS[name]), (...args) => {
      const input = read(args);
      if (typeof input !== 'string') handle(input);
      else this.remark(`${input} Send \`${signalLine(this.id, name, this.#signals[name])}\``);
    });
  }

  /** Handles a signal that the gateway sends: its input does not matter. */
  protected onSignal(name: SignalName, handle: () => void): void {
    setHandler(defineSignal(SIGNALS[name]), handle);
  }

  protected show(): void {
    const details = this.describe(this.#state, this.#remarks);
    if (details !== null) setCurrentDetails(details);
    if (this.#state === null) return;
    const attributes = this.attributesOf(this.#state);
    const next = JSON.stringify(attributes);
    // Each upsert is an event of the history.
    if (next !== '{}' && next !== this.#shown) upsertSearchAttributes(attributes);
    this.#shown = next;
  }

  /** "Request cancellation" in Temporal's UI is answered with a remark; the workflow goes on. */
  #remarkCancellationRequests(instead: SignalName): void {
    CancellationScope.current().cancelRequested.catch(() => {
      this.remark(`A cancellation request was ignored. Send the signal \`${instead}\` instead.`);
    });
  }

  /**
   * Takes what has come in under other names. The handler is set for this moment only: with one
   * that stays, the SDK throws at a name that begins with `__temporal_`, each time it meets it,
   * and the workflow would never proceed. Here the throw is caught and the signal is gone.
   */
  #remarkUnknownSignals(): void {
    const names = Object.keys(this.#signals).map((name) => `\`${name}\``);
    try {
      setDefaultSignalHandler((name) => {
        this.remark(`\`${name}\` was ignored: the valid signals are ${names.join(', ')}.`);
      });
    } catch {
      this.remark('A signal with a reserved name was ignored.');
    }
    setDefaultSignalHandler(undefined);
  }
}

/**
 * Of a workflow that operators decide about and whose provider sends updates. `sequence`: of two
 * reports the higher is the newer.
 */
export abstract class DecisionInbox<
  State extends { sequence: number },
  D extends Decision,
> extends Inbox<State> {
  #decision: D | null = null;
  #hasProviderUpdate = false;

  constructor(id: string, signals: OperatorSignals, insteadOfCancel: SignalName) {
    super(id, signals, insteadOfCancel);
    this.onSignal('providerUpdate', () => {
      this.noteProviderUpdate();
    });
  }

  /** @returns why a decision changes nothing now, or null */
  protected abstract refusalOf(decision: D): string | null;

  /** Takes a report unless a newer one is here already. */
  override take(state: State): void {
    if (this.known !== null && state.sequence < this.known.sequence) return;
    super.take(state);
    const refusal = this.#decision && this.refusalOf(this.#decision);
    if (this.#decision === null || refusal === null) return;
    this.remarkUnchanged(this.#decision, refusal);
    this.#decision = null;
  }

  hasDecision(): boolean {
    return this.#decision !== null;
  }

  takeDecision(): D | null {
    const decision = this.#decision;
    this.#decision = null;
    return decision;
  }

  hasProviderUpdate(): boolean {
    return this.#hasProviderUpdate;
  }

  noteProviderUpdate(): void {
    this.#hasProviderUpdate = true;
  }

  /** The provider is asked now: whatever it sends from here on is a new update. */
  forgetProviderUpdate(): void {
    this.#hasProviderUpdate = false;
  }

  /** Nothing has come in that was not looked at. */
  isIdle(): boolean {
    return !this.hasDecision() && !this.#hasProviderUpdate;
  }

  /** The first decision counts. */
  protected decide(decision: D): void {
    const before = this.#decision;
    const refusal =
      before === null ? this.refusalOf(decision) : `\`${before.kind}\` was received before it`;
    if (refusal === null) this.#decision = decision;
    else this.remarkUnchanged(decision, refusal);
  }

  protected remarkUnchanged({ kind, by }: D, why: string): void {
    this.remark(`\`${kind}\`${by === null ? '' : ` by ${by}`} had no effect: ${why}.`);
  }
}

export function list(heading: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [heading, items.map((item) => `- ${item}`).join('\n')];
}

/** A command to type. */
export function code(line: string): string {
  return ['```sh', line, '```'].join('\n');
}

export function signalLine(id: string, name: SignalName, input: object = {}): string {
  const line = `temporal workflow signal -w ${id} --name ${name}`;
  return Object.keys(input).length === 0 ? line : `${line} --input '${JSON.stringify(input)}'`;
}

/**
 * The operator's side of a workflow, shared by payouts, payments and webhook deliveries: receives
 * signals, keeps the newest state, and shows it as current details and search attributes.
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

/** The page shows the newest remarks; the signals behind older ones are in the history. */
const REMARKS_MAX = 5;

type SignalName = keyof typeof SIGNALS;
type Attributes = Record<string, string[] | boolean[]>;

/** A signal that operators send by hand, with an example of its input. */
export type OperatorSignals<Name extends SignalName = SignalName> = Partial<Record<Name, object>>;

export interface Timer {
  ms: number;
  /** Shown in the history. */
  summary: string;
}

export abstract class OperatorPage<State extends object> {
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

  /** @returns Markdown, or null before the first report */
  protected abstract describe(state: State | null, remarks: readonly string[]): string | null;

  protected abstract attributesOf(state: State): Attributes;

  /** Whether the state usually ends before anybody searches for it. */
  protected isBrief(_state: State): boolean {
    return false;
  }

  get state(): State {
    if (this.#state === null) throw new Error(`${this.id} has not been reported yet`);
    return this.#state;
  }

  /** Null until the first report. */
  get known(): State | null {
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

  /** Waits until `happened` is true or the timer fires. */
  async waitUntil(happened: () => boolean, timer?: Timer): Promise<void> {
    this.publish();
    const done = (): boolean => {
      this.#remarkUnknownSignals();
      return happened();
    };
    if (timer === undefined) await condition(done);
    else await condition(done, timer.ms, { summary: timer.summary });
  }

  /**
   * Handles a signal that operators send by hand. Invalid input becomes a remark with the correct
   * command.
   * @param read returns the input, or a sentence about the error
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

  /** Handles a signal that the gateway sends; its input is ignored. */
  protected onSignal(name: SignalName, handle: () => void): void {
    setHandler(defineSignal(SIGNALS[name]), handle);
  }

  protected show(): void {
    const details = this.describe(this.#state, this.#remarks);
    if (details !== null) setCurrentDetails(details);
  }

  /**
   * Sets the search attributes. Each upsert adds an event to the history, so they are set where the
   * workflow waits or ends, and not for a state that is gone when the workflow task ends.
   */
  publish(): void {
    if (this.#state === null || this.isBrief(this.#state)) return;
    const attributes = this.attributesOf(this.#state);
    const next = JSON.stringify(attributes);
    if (next !== '{}' && next !== this.#shown) upsertSearchAttributes(attributes);
    this.#shown = next;
  }

  /** "Request cancellation" in Temporal's UI adds a remark, and the workflow continues. */
  #remarkCancellationRequests(instead: SignalName): void {
    CancellationScope.current().cancelRequested.catch(() => {
      this.remark(`A cancellation request was ignored. Send the signal \`${instead}\` instead.`);
    });
  }

  /**
   * Consumes signals with unknown names. The handler is set only for a moment: with a permanent
   * handler, the SDK would throw for each name that starts with `__temporal_`, and the workflow
   * could not continue. Here the error is caught and the signal is consumed.
   */
  #remarkUnknownSignals(): void {
    const names = Object.keys(this.#signals).map((name) => `\`${name}\``);
    try {
      setDefaultSignalHandler((name) => {
        this.remark(`${inlineCode(name)} was ignored: the valid signals are ${names.join(', ')}.`);
      });
    } catch {
      this.remark('A signal with a reserved name was ignored.');
    }
    setDefaultSignalHandler(undefined);
  }
}

/**
 * For a workflow that operators decide about and that receives provider updates. Of two reports,
 * the one with the higher `sequence` is newer.
 */
export abstract class DecisionPage<
  State extends { sequence: number },
  D extends Decision,
> extends OperatorPage<State> {
  /** The decisions in order of arrival. */
  #decisions: readonly D[] = [];
  #hasProviderUpdate = false;

  constructor(id: string, signals: OperatorSignals, insteadOfCancel: SignalName) {
    super(id, signals, insteadOfCancel);
    this.onSignal('providerUpdate', () => {
      this.noteProviderUpdate();
    });
  }

  /**
   * @param waiting the decision that was received before it and has not been taken
   * @returns why a decision has no effect now, or null
   */
  protected abstract refusalOf(decision: D, waiting?: D): string | null;

  /** Takes a report unless it already has a newer one. */
  override take(state: State): void {
    if (this.known !== null && state.sequence < this.known.sequence) return;
    this.#accept(state);
  }

  /**
   * Takes the report of a step that began when `before` was known. If it is older than that, the
   * database was restored to an earlier time, and the row decides again.
   */
  takeStep(before: State, state: State): void {
    if (state.sequence >= before.sequence) {
      this.take(state);
      return;
    }
    this.remark(
      'The database was restored to an earlier state, from which the workflow continues.',
    );
    this.#accept(state);
  }

  #accept(state: State): void {
    const isFirst = this.known === null;
    super.take(state);
    const before = this.#decisions;
    this.#decisions = [];
    for (const decision of before) {
      // An earlier attempt of the workflow task, whose results were lost, may have applied it.
      if (!isFirst || !this.isInEffect(decision)) this.decide(decision);
    }
  }

  /** Whether the known state is what the decision asks for. `refusalOf` refuses such a decision. */
  protected isInEffect(_decision: D): boolean {
    return false;
  }

  hasDecision(): boolean {
    return this.#decisions.length > 0;
  }

  takeDecision(): D | null {
    const [first = null, ...rest] = this.#decisions;
    this.#decisions = rest;
    return first;
  }

  hasProviderUpdate(): boolean {
    return this.#hasProviderUpdate;
  }

  noteProviderUpdate(): void {
    this.#hasProviderUpdate = true;
  }

  /** Call it before asking the provider: a later signal is a new update. */
  forgetProviderUpdate(): void {
    this.#hasProviderUpdate = false;
  }

  /** Whether no decision and no update is pending. */
  isIdle(): boolean {
    return !this.hasDecision() && !this.#hasProviderUpdate;
  }

  protected decide(decision: D): void {
    const refusal = this.refusalOf(decision, this.#decisions.at(-1));
    if (refusal === null) this.#decisions = [...this.#decisions, decision];
    else this.remarkUnchanged(decision, refusal);
  }

  remarkUnchanged({ kind, by }: D, why: string): void {
    this.remark(`\`${kind}\`${by === null ? '' : ` by ${plainText(by)}`} had no effect: ${why}.`);
  }
}

/** Typed text on one line, with everything escaped that Markdown could read as markup or a link. */
export function plainText(typed: string): string {
  return typed
    .trim()
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .replaceAll(/[!-&(-+./:-@[-`{-~]/g, '\\$&');
}

const INLINE_LENGTH_MAX = 60;

/** Typed text as inline code, where nothing but a backtick could end it. */
function inlineCode(typed: string): string {
  const start = typed.slice(0, INLINE_LENGTH_MAX).replaceAll(/[`\s\p{C}]/gu, '?');
  return `\`${start}${typed.length > INLINE_LENGTH_MAX ? '…' : ''}\``;
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

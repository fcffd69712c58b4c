/** What a peer is: a program of other authors that does a part of the gateway's job, as it is shipped. */

export interface Peer {
  /** In the table, and for --only. */
  name: string;
  /** Its version in docs/performance.md. */
  version: string;
  /** Has the path of its program. Without it, the program is searched on PATH. */
  variable: string;
  program: string;
  /** @param program its path */
  start(program: string, setting: PeerSetting): Promise<RunningPeer>;
}

export interface PeerSetting {
  /** An empty database of its own. */
  databaseUrl: string;
  /** Its own; removed after the run. */
  folder: string;
  /** Where it reports payments; null: nowhere. */
  webhookUrl: string | null;
}

export interface RunningPeer {
  /** The version of the program that runs. */
  version: string;
  /**
   * Makes one payment from a funded account. It is final when this resolves.
   * @returns an id that its webhook has too
   */
  pay(): Promise<string>;
  /** The payment that a webhook's body is about. */
  idOf(body: string): string;
  stop(): Promise<void>;
}

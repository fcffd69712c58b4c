/** JSON over kept-alive connections, as many as the load needs. */
import { Pool } from 'undici';

export interface JsonClient {
  /** @throws Error for an answer that is not 2xx */
  send<Answer>(call: JsonCall): Promise<Answer>;
  close(): Promise<void>;
}

export interface JsonCall {
  method: 'GET' | 'PATCH' | 'POST' | 'PUT';
  path: string;
  body?: object;
  headers?: Record<string, string>;
}

export function jsonClient(origin: string): JsonClient {
  const pool = new Pool(origin);
  return {
    send: async <Answer>({ method, path, body, headers }: JsonCall) => {
      const response = await pool.request({
        method,
        path,
        headers: { 'content-type': 'application/json', ...headers },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.body.text();
      if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`);
      return JSON.parse(text) as Answer;
    },
    close: () => pool.destroy(),
  };
}

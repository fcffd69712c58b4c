/**
 * What `npm start` shows when everything runs: where things are and how to get in. The dashboard
 * and the operators' pages are left out until they exist; dev.json has their addresses already.
 */
import { relative } from 'node:path';
import type { DataLayout } from './layout';
import type { DevSettings } from './settings-file';

export function printSummary(settings: DevSettings, layout: DataLayout): void {
  const near = (path: string): string => relative(process.cwd(), path) || path;
  const rows: [string, string][] = [
    ['API', settings.base_url],
    ['Sandbox', settings.sandbox_url],
    ['  Webhooks', `${settings.sandbox_url}/inbox`],
    ['Temporal', settings.temporal_address],
    ['  UI', settings.temporal_ui_url ?? 'the cluster’s own'],
    ['  CLI', settings.temporal_cli ?? 'not found on this machine'],
    ['Test key', settings.test_key],
    ['Live key', settings.live_key],
    ['Settings', `${near(layout.settings)} (all of this, for scripts)`],
    ['Logs', `${near(layout.logs)}/`],
  ];
  const lines = rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}`);
  process.stdout.write(`\n${lines.join('\n')}\n\n`);
}

/** The answers that open a session in the browser and end it. */
import { DEVICE_DAYS, type OpenedSession } from '../../../kit/service/sessions';
import {
  type Answer,
  deviceCookie,
  ownPath,
  redirect,
  sessionCookie,
} from '../../../kit/pages/site';
import type { SetCookie, Visit } from '../../../kit/pages/visit';
import type { AccountPages } from './page-options';

/** The session of the same browser ends: its token must not outlive the new one. */
export async function signedInAnswer(
  options: AccountPages,
  visit: Visit,
  { token, hours, device }: OpenedSession,
  { next, cookies }: { next: string; cookies: SetCookie[] },
): Promise<Answer> {
  const { site, publicUrl } = options;
  await endSession(options, visit);
  const to = ownPath(next, site.prefix) ?? site.home;
  return redirect(`${site.prefix}/sign-in/done?next=${encodeURIComponent(to)}`, [
    { ...sessionCookie(site, publicUrl), value: token, maxAgeSeconds: Math.round(hours * 3600) },
    { name: deviceCookie(site), value: device, maxAgeSeconds: DEVICE_DAYS * 86_400 },
    ...cookies,
  ]);
}

export async function endSession(
  { site, users, publicUrl }: AccountPages,
  visit: Visit,
): Promise<void> {
  const token = visit.cookies.get(sessionCookie(site, publicUrl).name);
  if (token !== undefined) await users.sessions.signOut(site.kind, token);
}

/** Every error as a page: what happened, what to do, and the request id. */
import { ApiError } from '../../domain/errors';
import { isUnavailable } from '../../platform/lib/unavailable';
import { AdminRefusal, InvalidInput } from '../service/refusal';
import { TooManyRequests } from './limits';

export interface Problem {
  status: number;
  title: string;
  text: string;
  /** Seconds. */
  retryAfterS?: number;
}

const PROBLEMS = {
  page_not_found: {
    status: 404,
    title: 'Page not found',
    text: 'Check the address, or that the object belongs to this account and mode.',
  },
  not_allowed: {
    status: 403,
    title: 'Not allowed',
    text: 'Your role does not allow this. Ask an owner of the account.',
  },
  operator_not_allowed: {
    status: 403,
    title: 'Not allowed',
    text: 'Your role does not allow this. Ask an admin.',
  },
  other_origin: {
    status: 403,
    title: 'Request refused',
    text: 'The form was not sent from this site. Open the page again and send the form from there.',
  },
  invitation_gone: {
    status: 404,
    title: 'Invitation not valid',
    text: 'It was accepted, revoked or has expired. Ask for a new one.',
  },
  reset_gone: {
    status: 404,
    title: 'Link not valid',
    text: 'It was used or has expired. Ask for a new one with “Forgotten password?” on the sign-in page.',
  },
  refund_link_gone: {
    status: 404,
    title: 'Link not valid',
    text: 'It was used or replaced, it has expired, or the refund was taken back. Ask the shop that you paid.',
  },
  payment_link_gone: {
    status: 404,
    title: 'Link not valid',
    text: 'It has expired, or the shop has closed it. Ask the shop for a new one.',
  },
  address_not_proven: {
    status: 409,
    title: 'Address not confirmed',
    text: 'Another account invited a user with your email address, and nobody has confirmed yet that the address is yours. “Forgotten password?” on the sign-in page confirms it, unless the user has two-step verification; otherwise ask support to confirm it. Then open this link again and accept with the new password.',
  },
  invalid_filter: {
    status: 422,
    title: 'Filter not valid',
    text: 'A filter in the address has a value that does not exist. Go back and choose another.',
  },
  invalid_form: {
    status: 415,
    title: 'Request refused',
    text: 'The form was not sent as application/x-www-form-urlencoded.',
  },
  invalid_text: {
    status: 422,
    title: 'Invalid value',
    text: 'A value contains a character that cannot be stored.',
  },
  form_incomplete: {
    status: 400,
    title: 'Form incomplete',
    text: 'The connection ended before the whole form was received. Send it again.',
  },
  form_too_large: {
    status: 413,
    title: 'Form too large',
    text: 'Send less than 64 KiB, or 8 MiB with a table, and at most 5,000 fields. A logo has at most 64 KiB.',
  },
  unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    text: 'The database did not answer. Try again in a few seconds.',
  },
  internal_error: {
    status: 500,
    title: 'Something went wrong',
    text: 'The request failed. Try again. If it fails again, contact support with the request ID.',
  },
} as const satisfies Record<string, Problem>;

export type ProblemName = keyof typeof PROBLEMS;

export class PageRefusal extends Error {
  readonly problem: ProblemName;

  constructor(problem: ProblemName) {
    super(problem);
    this.problem = problem;
  }
}

/** @param cause a name, or what was thrown */
export function problemOf(cause: unknown): Problem {
  if (typeof cause === 'string' && cause in PROBLEMS) return PROBLEMS[cause as ProblemName];
  if (cause instanceof PageRefusal) return PROBLEMS[cause.problem];
  if (cause instanceof TooManyRequests) return tooMany(cause.retryAfterS);
  if (cause instanceof AdminRefusal) {
    if (cause.refusal.code === 'not_found') return PROBLEMS.page_not_found;
    return { status: 409, title: 'Not possible', text: cause.message };
  }
  if (cause instanceof InvalidInput) {
    return { status: 422, title: 'Invalid value', text: cause.message };
  }
  if (cause instanceof ApiError) {
    if (cause.code === 'not_found') return PROBLEMS.page_not_found;
    return { status: cause.status, title: 'Not possible', text: cause.message };
  }
  return isUnavailable(cause) ? PROBLEMS.unavailable : PROBLEMS.internal_error;
}

function tooMany(retryAfterS: number): Problem {
  const seconds = retryAfterS === 1 ? '1 second' : `${retryAfterS} seconds`;
  return {
    status: 429,
    title: 'Too many requests',
    text: `You, your account or your network sent too many requests of this kind. Try again in ${seconds}.`,
    retryAfterS,
  };
}

interface ProblemBodyProps {
  problem: Problem;
  requestId: string;
  home: string;
}

export function ProblemBody({ problem, requestId, home }: ProblemBodyProps) {
  return (
    <section class="problem">
      <p class="muted">{problem.status}</p>
      <h1>{problem.title}</h1>
      <p>{problem.text}</p>
      <p class="muted">
        Request ID <code>{requestId}</code>
      </p>
      <a class="btn" data-variant="outline" href={home}>
        Go to the start page
      </a>
    </section>
  );
}

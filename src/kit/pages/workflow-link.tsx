/** Links from an object to its workflow in the Temporal UI. */
import { Icon } from './icon';

/** Without an id, of the list. Null where the UI is not known (TEMPORAL_UI_URL). */
export type WorkflowUrl = (workflowId?: string) => string | null;

/** The runs of the schedules, nearly all of the list otherwise (decisions/workflows#list-of-workflows). */
const WITHOUT_SCHEDULES = 'TemporalScheduledById IS NULL';

export function createWorkflowUrl(temporal: {
  uiUrl: string | null;
  namespace: string;
}): WorkflowUrl {
  const { uiUrl, namespace } = temporal;
  if (uiUrl === null) return () => null;
  const base = `${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return (workflowId) =>
    workflowId === undefined
      ? `${base}?query=${encodeURIComponent(WITHOUT_SCHEDULES)}`
      : `${base}/${encodeURIComponent(workflowId)}`;
}

/** The id of a payment, a payout or a webhook delivery is the id of its workflow. */
export function WorkflowLink({ id, urlOf }: { id?: string; urlOf: WorkflowUrl }) {
  const url = urlOf(id);
  if (url === null) return null;
  return (
    <a class="link" href={url} target="_blank" rel="noreferrer">
      {id === undefined ? 'Workflows' : 'Workflow'} in Temporal <Icon name="external-link" />
    </a>
  );
}

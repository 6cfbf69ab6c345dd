import { api } from '../api/client.ts'
import { lastWorkspace } from '../session/last-workspace.ts'
import type { Session } from '../session/session.ts'

const base = '/api/team/v1/workspaces/{workspaceId}'
const readers: Readonly<Record<string, (workspaceId: string, id: string) => Promise<unknown>>> = {
  inbox: (workspaceId, id) => api.GET(`${base}/inbox/conversations/{id}`, { workspaceId, id }),
  leads: (workspaceId, id) => api.GET(`${base}/leads/{identifier}`, { workspaceId, identifier: id }),
  connections: (workspaceId, id) => api.GET(`${base}/connections/{connectionId}`, { workspaceId, connectionId: id }),
  templates: (workspaceId, id) => api.GET(`${base}/template-drafts/{draftId}`, { workspaceId, draftId: id }),
  forms: (workspaceId, id) => api.GET(`${base}/forms/{formId}`, { workspaceId, formId: id }),
  sequences: (workspaceId, id) => api.GET(`${base}/sequences/{sequenceId}`, { workspaceId, sequenceId: id }),
  webhooks: (workspaceId, id) => api.GET(`${base}/webhooks/{endpointId}`, { workspaceId, endpointId: id }),
}
/** Number of workspaces that are tried; members of more must give the workspace. */
const maxRequested = 20

/** Returns the workspace that contains what a short path names, otherwise the last workspace. */
export async function findWorkspaceWith(session: Session, page: string, id: string): Promise<string | null> {
  const last = lastWorkspace(session)
  const read = readers[page]
  if (read === undefined || session.workspaces.length < 2 || !/^[\da-f-]{36}$/i.test(id)) return last
  const requested = session.workspaces.slice(0, maxRequested).map(async (workspace) => {
    const has = await read(workspace.id, id).then(
      () => true,
      () => false,
    )
    return has ? workspace.id : null
  })
  return (await Promise.all(requested)).find((found) => found !== null) ?? last
}

import { fetchRaw } from '../api/client.ts'
import { lastWorkspace } from '../session/last-workspace.ts'
import type { Session } from '../session/session.ts'

/** Paths of what a page shows, by page. */
const pathByPage: Readonly<Record<string, string>> = {
  inbox: 'inbox/conversations',
  leads: 'leads',
  connections: 'connections',
  templates: 'template-drafts',
  forms: 'forms',
  sequences: 'sequences',
  webhooks: 'webhooks',
}
/** Number of workspaces that are tried; members of more must give the workspace. */
const maxRequested = 20

/** Returns the workspace that contains what a short path names, otherwise the last workspace. */
export async function findWorkspaceWith(session: Session, page: string, id: string): Promise<string | null> {
  const last = lastWorkspace(session)
  const path = pathByPage[page]
  if (path === undefined || session.workspaces.length < 2 || !/^[\da-f-]{36}$/i.test(id)) return last
  const requested = session.workspaces.slice(0, maxRequested).map(async (workspace) => {
    const has = await fetchRaw(`/api/team/v1/workspaces/${workspace.id}/${path}/${id}`).then(
      () => true,
      () => false,
    )
    return has ? workspace.id : null
  })
  return (await Promise.all(requested)).find((found) => found !== null) ?? last
}

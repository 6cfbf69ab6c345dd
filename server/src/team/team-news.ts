import { announce, type Tx } from '../base/db.ts'

/**
 * What the team's pages are told beside the events, as a frame of its own: in no feed, for no key and no webhook, and lost
 * on who is not there. It names what to load anew and holds nothing of it.
 */
export const teamNews = {
  connectionChanged: 'team.connection.changed',
  importChanged: 'team.lead_import.changed',
  workspaceChanged: 'team.workspace.changed',
} as const
export type TeamNewsName = (typeof teamNews)[keyof typeof teamNews]

/** The id of an announcement: the workspace, the name, and what it is about. */
export const teamTopic = 'team_news'

/** What the id of each names. */
const idNames: Record<TeamNewsName, string> = {
  'team.connection.changed': 'connectionId',
  'team.lead_import.changed': 'importId',
  'team.workspace.changed': 'workspaceId',
}

/** To be called in the transaction of the change. */
export function announceConnection(tx: Tx, workspaceId: string, connectionId: string): void {
  announce(tx, teamTopic, [workspaceId, teamNews.connectionChanged, connectionId].join(' '))
}

/** The same, of an import of leads. */
export function announceImport(tx: Tx, workspaceId: string, importId: string): void {
  announce(tx, teamTopic, [workspaceId, teamNews.importChanged, importId].join(' '))
}

/** The same, of the workspace's settings and switches. */
export function announceWorkspace(tx: Tx, workspaceId: string): void {
  announce(tx, teamTopic, [workspaceId, teamNews.workspaceChanged, workspaceId].join(' '))
}

/** What an announcement says, as the stream carries it; null for what is none. */
export function readTeamNews(id: string): { workspaceId: string; name: TeamNewsName; data: object } | null {
  const [workspaceId = '', told, about] = id.split(' ')
  const name = Object.values(teamNews).find((known) => known === told)
  if (name === undefined || about === undefined) return null
  return { workspaceId, name, data: { [idNames[name]]: about } }
}

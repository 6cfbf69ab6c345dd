import { announce, type Tx } from '../base/db.ts'

/**
 * What the team's pages are told beside the events, as a frame of its own: in no feed, for no key and no webhook, and lost
 * on who is not there. It names what to load anew and holds nothing of it.
 */
const teamNews = {
  'team.connection.changed': {
    idName: 'connectionId',
    tells: '`{ connectionId }`: read that connection and its session anew',
  },
  'team.lead_import.changed': { idName: 'importId', tells: '`{ importId }`: read that import anew; only admins may' },
  'team.lead_bulk_change.changed': { idName: 'changeId', tells: '`{ changeId }`: read that bulk change anew' },
  'team.lead_labels.changed': { idName: 'leadId', tells: '`{ leadId }`: read the labels of that lead anew' },
  'team.lead.changed': { idName: 'leadId', tells: '`{ leadId }`: read the timeline of that lead anew' },
  'team.member.changed': { idName: 'userId', tells: '`{ userId }`: read the members anew' },
  'team.workspace.changed': { idName: 'workspaceId', tells: '`{ workspaceId }`: read the workspace anew' },
}
type TeamNewsName = keyof typeof teamNews

const names = Object.keys(teamNews) as TeamNewsName[]

/** What each frame tells, for the description of the stream. */
export const teamNewsFrames = Object.fromEntries(names.map((name) => [name, teamNews[name].tells]))

/** The id of an announcement: the workspace, the name, and what it is about. */
export const teamTopic = 'team_news'

/** To be called in the transaction of the change. */
export function announceConnection(tx: Tx, workspaceId: string, connectionId: string): void {
  announceNews(tx, 'team.connection.changed', workspaceId, connectionId)
}

/** The same, of an import of leads. */
export function announceImport(tx: Tx, workspaceId: string, importId: string): void {
  announceNews(tx, 'team.lead_import.changed', workspaceId, importId)
}

/** The same, of a bulk change of leads. */
export function announceBulkChange(tx: Tx, workspaceId: string, changeId: string): void {
  announceNews(tx, 'team.lead_bulk_change.changed', workspaceId, changeId)
}

/** The same, of the labels of a lead, which no event tells of. */
export function announceLeadLabels(tx: Tx, workspaceId: string, leadId: string): void {
  announceNews(tx, 'team.lead_labels.changed', workspaceId, leadId)
}

/** The same, of what is in no event of a lead, as a note. */
export function announceLead(tx: Tx, workspaceId: string, leadId: string): void {
  announceNews(tx, 'team.lead.changed', workspaceId, leadId)
}

/** The same, of a member who went away or came back. */
export function announceMemberNews(tx: Tx, workspaceId: string, userId: string): void {
  announceNews(tx, 'team.member.changed', workspaceId, userId)
}

/** The same, of the workspace's settings and switches. */
export function announceWorkspace(tx: Tx, workspaceId: string): void {
  announceNews(tx, 'team.workspace.changed', workspaceId, workspaceId)
}

const announceNews = (tx: Tx, name: TeamNewsName, workspaceId: string, id: string): void =>
  announce(tx, teamTopic, [workspaceId, name, id].join(' '))

const announces =
  (name: TeamNewsName) =>
  (id: string): boolean =>
    id.split(' ', 2)[1] === name

/** Whether an announcement, by its id, is of a connection. */
export const announcesConnection = announces('team.connection.changed')
export const announcesImport = announces('team.lead_import.changed')
export const announcesBulkChange = announces('team.lead_bulk_change.changed')
export const announcesWorkspace = announces('team.workspace.changed')

/** What an announcement says, as the stream carries it; null for what is none. */
export function readTeamNews(id: string): { workspaceId: string; name: TeamNewsName; data: object } | null {
  const [workspaceId = '', told, about] = id.split(' ')
  const name = names.find((known) => known === told)
  if (name === undefined || about === undefined) return null
  return { workspaceId, name, data: { [teamNews[name].idName]: about } }
}

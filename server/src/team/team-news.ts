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

const announceNews = (name: TeamNewsName) => (tx: Tx, workspaceId: string, id: string) =>
  announce(tx, teamTopic, [workspaceId, name, id].join(' '))

// To be called in the transaction of the change.
export const announceConnection = announceNews('team.connection.changed')
export const announceImport = announceNews('team.lead_import.changed')
export const announceBulkChange = announceNews('team.lead_bulk_change.changed')
/** No event tells of the labels of a lead. */
export const announceLeadLabels = announceNews('team.lead_labels.changed')
/** For what is in no event of a lead, as a note. */
export const announceLead = announceNews('team.lead.changed')
/** For a member who went away or came back. */
export const announceMemberNews = announceNews('team.member.changed')
/** For the workspace's settings and switches. */
export const announceWorkspace = (tx: Tx, workspaceId: string) =>
  announceNews('team.workspace.changed')(tx, workspaceId, workspaceId)

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

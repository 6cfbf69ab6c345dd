import { publish, type Tx } from '../base/db.ts'

/**
 * What the team's pages are told beside the events, as a frame of its own: in no feed, for no key and no webhook, and lost
 * on who is not there. It names what to load anew and holds nothing of it.
 */
const liveUpdates = {
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
type LiveUpdateName = keyof typeof liveUpdates

const names = Object.keys(liveUpdates) as LiveUpdateName[]

/** What each frame tells, for the description of the stream. */
export const liveUpdateFrames = Object.fromEntries(names.map((name) => [name, liveUpdates[name].tells]))

/** The id of an announcement: the workspace, the name, and what it is about. */
export const liveUpdatesTopic = 'team_news'

const publishUpdate = (name: LiveUpdateName) => (tx: Tx, workspaceId: string, id: string) =>
  publish(tx, liveUpdatesTopic, [workspaceId, name, id].join(' '))

// To be called in the transaction of the change.
export const publishConnection = publishUpdate('team.connection.changed')
export const publishImport = publishUpdate('team.lead_import.changed')
export const publishBulkChange = publishUpdate('team.lead_bulk_change.changed')
/** No event tells of the labels of a lead. */
export const publishLeadLabels = publishUpdate('team.lead_labels.changed')
/** For what is in no event of a lead, as a note. */
export const publishLead = publishUpdate('team.lead.changed')
/** For a member who went away or came back. */
export const publishMemberUpdate = publishUpdate('team.member.changed')
/** For the workspace's settings and switches. */
export const publishWorkspace = (tx: Tx, workspaceId: string) =>
  publishUpdate('team.workspace.changed')(tx, workspaceId, workspaceId)

const updatesOf =
  (name: LiveUpdateName) =>
  (id: string): boolean =>
    id.split(' ', 2)[1] === name

/** Whether an announcement, by its id, is of a connection. */
export const connectionUpdates = updatesOf('team.connection.changed')
export const importUpdates = updatesOf('team.lead_import.changed')
export const bulkChangeUpdates = updatesOf('team.lead_bulk_change.changed')
export const workspaceUpdates = updatesOf('team.workspace.changed')

/** What an announcement says, as the stream carries it; null for what is none. */
export function readLiveUpdate(id: string): { workspaceId: string; name: LiveUpdateName; data: object } | null {
  const [workspaceId = '', told, about] = id.split(' ')
  const name = names.find((known) => known === told)
  if (name === undefined || about === undefined) return null
  return { workspaceId, name, data: { [liveUpdates[name].idName]: about } }
}

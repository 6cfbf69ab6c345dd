import { publish, type Tx } from '../base/db.ts'

/**
 * Live updates of the team's pages besides events. They are separate frames, in no feed, key or webhook, and are lost
 * if no page is connected. Each names the resource to reload and contains none of its data.
 */
const liveUpdates = {
  'team.connection.changed': {
    idName: 'connectionId',
    description: '`{ connectionId }`: reload that connection and its session',
  },
  'team.lead_import.changed': { idName: 'importId', description: '`{ importId }`: reload that import (admins only)' },
  'team.lead_bulk_change.changed': { idName: 'changeId', description: '`{ changeId }`: reload that bulk change' },
  'team.lead_labels.changed': { idName: 'leadId', description: '`{ leadId }`: reload the labels of that lead' },
  'team.lead.changed': { idName: 'leadId', description: '`{ leadId }`: reload the timeline of that lead' },
  'team.task.changed': { idName: 'taskId', description: '`{ taskId }`: reload the tasks' },
  'team.broadcast.changed': { idName: 'broadcastId', description: '`{ broadcastId }`: reload that broadcast' },
  'team.member.changed': { idName: 'userId', description: '`{ userId }`: reload the members' },
  'team.workspace.changed': { idName: 'workspaceId', description: '`{ workspaceId }`: reload the workspace' },
}
type LiveUpdateName = keyof typeof liveUpdates

const names = Object.keys(liveUpdates) as LiveUpdateName[]

/** Descriptions of the frames, for the documentation of the stream. */
export const liveUpdateFrames = Object.fromEntries(names.map((name) => [name, liveUpdates[name].description]))

/** Topic of live updates. A message consists of the workspace id, the name and the id of the resource. */
export const liveUpdatesTopic = 'team_news'

const publishUpdate = (name: LiveUpdateName) => (tx: Tx, workspaceId: string, id: string) =>
  publish(tx, liveUpdatesTopic, [workspaceId, name, id].join(' '))

// Call these in the transaction of the change.
export const publishConnection = publishUpdate('team.connection.changed')
export const publishImport = publishUpdate('team.lead_import.changed')
export const publishBulkChange = publishUpdate('team.lead_bulk_change.changed')
/** For labels of a lead, which cause no event. */
export const publishLeadLabels = publishUpdate('team.lead_labels.changed')
/** For changes of a lead without an event, such as notes. */
export const publishLead = publishUpdate('team.lead.changed')
/** For tasks: created, changed, completed, due or deleted. */
export const publishTask = publishUpdate('team.task.changed')
/** For broadcasts: changed, or with new results. */
export const publishBroadcast = publishUpdate('team.broadcast.changed')
/** For a member who sets or clears away. */
export const publishMemberUpdate = publishUpdate('team.member.changed')
/** For settings and switches of the workspace. */
export const publishWorkspace = (tx: Tx, workspaceId: string) =>
  publishUpdate('team.workspace.changed')(tx, workspaceId, workspaceId)

const updatesOf =
  (name: LiveUpdateName) =>
  (id: string): boolean =>
    id.split(' ', 2)[1] === name

/** Returns whether a message is about a connection. */
export const connectionUpdates = updatesOf('team.connection.changed')
export const importUpdates = updatesOf('team.lead_import.changed')
export const bulkChangeUpdates = updatesOf('team.lead_bulk_change.changed')
export const taskUpdates = updatesOf('team.task.changed')
export const broadcastUpdates = updatesOf('team.broadcast.changed')
export const workspaceUpdates = updatesOf('team.workspace.changed')

/** Parses a message into the frame that the stream sends; null if it is not one. */
export function readLiveUpdate(id: string): { workspaceId: string; name: LiveUpdateName; data: object } | null {
  const [workspaceId = '', updateName, resourceId] = id.split(' ')
  const name = names.find((known) => known === updateName)
  if (name === undefined || resourceId === undefined) return null
  return { workspaceId, name, data: { [liveUpdates[name].idName]: resourceId } }
}

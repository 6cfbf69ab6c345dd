import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'

/** How far the tokens of a workspace have come. What lies beyond is looked through as it is. */
export interface SearchProgress {
  /** Messages with ids up to this one have their tokens. */
  messagesTo: string
  /** That the next message belongs to, and how many it has. */
  epoch: number
  inEpoch: number
  /** Changes of conversations up to this one have been followed; ids break ties. */
  conversationsTo: Date
  conversationTo: string
}

const lowestId = '00000000-0000-0000-0000-000000000000'
const nothingDone: SearchProgress = {
  messagesTo: lowestId,
  epoch: 0,
  inEpoch: 0,
  conversationsTo: new Date(0),
  conversationTo: lowestId,
}

const progressColumns = (sql: Sql) => sql`
  p.messages_to as "messagesTo",
  p.epoch,
  p.in_epoch as "inEpoch",
  p.conversations_to as "conversationsTo",
  p.conversation_to as "conversationTo"`

/** To be read before the tokens are: it only grows, so that an older one makes more to look through, never less. */
export async function readProgress(sql: Sql, workspaceId: string): Promise<SearchProgress> {
  const [row] = await sql<SearchProgress[]>`
    select ${progressColumns(sql)}
    from inbox_search_progress p
    where p.workspace_id = ${workspaceId}`
  return row ?? nothingDone
}

/** For making tokens; undefined while somebody else does, or deletes some. */
export async function takeProgress(tx: Tx, workspaceId: string): Promise<SearchProgress | undefined> {
  await beginProgress(tx, workspaceId)
  const [row] = await tx<SearchProgress[]>`
    select ${progressColumns(tx)}
    from inbox_search_progress p
    where p.workspace_id = ${workspaceId}
    for update skip locked`
  return row
}

/** Keeps everybody from making tokens until the transaction ends: for those who change what has some, or delete it. */
export async function holdProgress(tx: Tx, workspaceId: string): Promise<SearchProgress> {
  await beginProgress(tx, workspaceId)
  const [row] = await tx<SearchProgress[]>`
    select ${progressColumns(tx)}
    from inbox_search_progress p
    where p.workspace_id = ${workspaceId}
    for update`
  return row ?? nothingDone
}

/** Begins the progress of the workspaces `w` among these that have none. */
export async function beginAll({ sql, statement }: Db, among: Fragment): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select w.id
    from workspaces w
    where w.id not in (select workspace_id from inbox_search_progress)
      ${among}`
  if (rows.length === 0) return
  await statement(
    (tx) => tx`
      insert into inbox_search_progress (workspace_id)
      select id
      from unnest(${rows.map(({ id }) => id)}::uuid[]) as n (id)
      on conflict do nothing`,
  )
}

async function beginProgress(tx: Tx, workspaceId: string): Promise<void> {
  await tx`
    insert into inbox_search_progress (workspace_id)
    values (${workspaceId})
    on conflict do nothing`
}

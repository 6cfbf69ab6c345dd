import type { Fragment, Sql } from '../../base/db.ts'
import type { Scope } from '../conversation/conversation.ts'
import type { MessageRow } from '../conversation/message.ts'
import { anyWorkspace } from '../conversation/queries.ts'

/** A message that may say what is looked for. */
export type FoundRow = Pick<
  MessageRow,
  'id' | 'conversation_id' | 'direction' | 'kind' | 'content' | 'actor_type' | 'actor_id' | 'occurred_at'
>

/** Null where a message of that id is none that the caller sees, or not any more. */
export interface Candidate {
  id: string
  message: FoundRow | null
}

type CandidateRow = FoundRow | ({ id: string } & { [name in Exclude<keyof FoundRow, 'id'>]: null })

const candidate = (row: CandidateRow): Candidate => ({ id: row.id, message: row.content === null ? null : row })

const columns = (sql: Sql) => sql`
  m.conversation_id,
  m.direction,
  m.kind,
  m.content,
  m.actor_type,
  m.actor_id,
  m.occurred_at`

const within = (sql: Sql, { connectionIds }: Scope): Fragment =>
  connectionIds.length === 0 ? sql`` : sql`and m.connection_id = any (${[...connectionIds]}::uuid[])`

/** The newest messages between two, whatever they say. */
export async function selectMessages(
  sql: Sql,
  scope: Scope,
  { behind, before, limit }: { behind: string; before: string; limit: number },
): Promise<Candidate[]> {
  const rows = await sql<FoundRow[]>`
    select m.id, ${columns(sql)}
    from messages m
    where m.workspace_id = ${scope.workspaceId}
      and m.id > ${behind}
      and m.id < ${before}
      ${within(sql, scope)}
    order by m.id desc
    limit ${limit}`
  return rows.map(candidate)
}

export interface ByTokens {
  /** Sets of tokens; a message has one of them whole. */
  tokens: readonly number[][]
  /** The last message that has tokens, as far as this search goes by them. */
  upTo: string
  before: string
  limit: number
}

/**
 * The newest messages with the tokens. These are gathered first, and by nothing else: the statistics do not know how rare they
 * are, and the planner may take looking at all messages of the workspace, which stand in order, for cheaper. Hardly any of
 * another workspace has them.
 */
export async function selectByTokens(
  sql: Sql,
  scope: Scope,
  { tokens, upTo, before, limit }: ByTokens,
): Promise<Candidate[]> {
  const hasTokens = tokens.reduce((either, set) => sql`${either} or s.tokens @> ${set}::integer[]`, sql`false`)
  const workspace = anyWorkspace(sql, scope.workspaceId)
  const rows = await sql<CandidateRow[]>`
    with tokened as materialized (
      select s.message_id as id
      from (
        select workspace_id, message_id
        from message_search s
        where ${hasTokens}
        offset 0
      ) as s
      where s.workspace_id = ${workspace}
    ),
    candidates as materialized (
      select t.id
      from tokened t
      where t.id <= ${upTo}
        and t.id < ${before}
      order by t.id desc
      limit ${limit}
    )
    select t.id, m.*
    from candidates t
    left join lateral (
      select ${columns(sql)}
      from messages m
      where m.workspace_id = ${workspace}
        and m.id = t.id
        ${within(sql, scope)}
      offset 0
    ) as m on true
    order by t.id desc`
  return rows.map(candidate)
}

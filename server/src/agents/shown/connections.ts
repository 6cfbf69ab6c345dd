import type { Sql } from '../../base/db.ts'
import { oneOf, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { type Channel, type ConnectionState, channels } from '../../channels/connection/connection.ts'
import type { Scope } from '../../inbox/conversation/conversation.ts'
import { idSchema } from '../../team/team-schema.ts'

export const Connection = titled('AgentConnection', {
  id: idSchema('The chat connection.'),
  name: text(100, 'As the team calls it.', { example: 'Shop' }),
  channel: oneOf(channels, {
    description: '`waba`: official cloud API. `unofficial`: a linked phone. `partner`: a connected partner number.',
  }),
  state: oneOf(['active', 'paused', 'unavailable'] as const, { description: 'Only an `active` one sends.' }),
})

interface ConnectionRow {
  id: string
  name: string
  channel: Channel
  state: ConnectionState
}

/** Those that the key sees, oldest first. */
export function selectConnections(sql: Sql, { workspaceId, connectionIds }: Scope): Promise<ConnectionRow[]> {
  return sql<ConnectionRow[]>`
    select c.id, c.name, c.channel, c.state
    from connections c
    where c.workspace_id = ${workspaceId}
      and c.removed_at is null
      ${connectionIds.length === 0 ? sql`` : sql`and c.id = any (${[...connectionIds]}::uuid[])`}
    order by c.id
    limit 100`
}

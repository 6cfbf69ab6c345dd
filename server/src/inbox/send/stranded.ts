import type { Sql } from '../../base/db.ts'
import { runStep } from '../../base/steps.ts'
import { type SettleDeps, settleSend } from './send-settle.ts'

const batch = 100

/**
 * Settles the sends whose process has died: by what the platform has told of them since, or, ten minutes after the
 * send, as failed with `outcome_unknown`. Nothing is ever sent again. Answers how many were settled.
 */
export async function settleStranded(deps: Omit<SettleDeps, 'step'>): Promise<number> {
  let count = 0
  for (const send of await listStranded(deps.db.sql, deps.clock.now())) {
    const keyring = await deps.vault.keyring(send.workspaceId)
    const answer = await settleSend(
      { ...deps, step: runStep },
      keyring,
      send,
      send.isOverdue ? 'given up' : 'abandoned',
    )
    if (answer !== null) count++
  }
  return count
}

interface Stranded {
  workspaceId: string
  conversationId: string
  messageId: string
  isOverdue: boolean
}

// Of those that are not overdue only the ones that can be settled: no part is open, or one has failed.
async function listStranded(sql: Sql, now: Date): Promise<Stranded[]> {
  return sql<Stranded[]>`
    select
      d.workspace_id as "workspaceId",
      m.conversation_id as "conversationId",
      d.message_id as "messageId",
      coalesce(m.settle_by <= ${now}, false) as "isOverdue"
    from dispatches d
    join messages m
      on m.workspace_id = d.workspace_id
      and m.id = d.message_id
    where d.alive_until < clock_timestamp()
      and (
        m.settle_by <= ${now}
        or exists (
          select 1
          from message_parts p
          where p.workspace_id = d.workspace_id
            and p.message_id = d.message_id
            and p.status = 'failed'
        )
        or not exists (
          select 1
          from message_parts p
          where p.workspace_id = d.workspace_id
            and p.message_id = d.message_id
            and p.status = 'pending'
        )
      )
    order by d.alive_until
    limit ${batch}`
}

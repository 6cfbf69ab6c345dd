import type { Sql } from '../base/db.ts'
import { ApiError, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { ChangeDeps } from '../inbox/conversation/conversation.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import type { Member } from '../team/member.ts'
import { addItem, changeItem, deleteItem, type OwnedList } from '../workspaces/owned-list.ts'
import { act, NotDelivered } from './perform-action.ts'
import { limits, type MacroDraft } from './rule-schema.ts'
import { validateMacro } from './validate-rule.ts'

type MacroDeps = Pick<ChangeDeps, 'db' | 'clock'>

const macros: OwnedList = {
  item: 'macro',
  table: (sql) => sql`automation_macros`,
  maxItems: limits.macros,
  fullMessage: `A workspace has at most ${limits.macros} macros. Delete one first.`,
  notFoundMessage: 'Macro not found',
}

export interface Macro extends MacroDraft {
  id: string
  createdAt: Date
  updatedAt: Date
}

const columns = (sql: Sql) => sql`id, name, actions, created_at as "createdAt", updated_at as "updatedAt"`

/** Returns all macros, sorted by name. */
export async function listMacros(sql: Sql, workspaceId: string): Promise<Macro[]> {
  return sql<Macro[]>`
    select ${columns(sql)}
    from automation_macros
    where workspace_id = ${workspaceId}
    order by lower(name), id`
}

/** Creates a macro. Throws 400 for what it names and does not exist, 409 if there are 100. */
export async function createMacro({ db, clock }: MacroDeps, by: Member, draft: MacroDraft): Promise<Macro> {
  await validateMacro(db.sql, by.workspaceId, draft.actions)
  const now = clock.now()
  const macro: Macro = { ...draft, id: newId(now), createdAt: now, updatedAt: now }
  await db.tx((tx) => addItem(tx, macros, { by, now }, { ...macro, actions: tx.json(macro.actions) }))
  return macro
}

/** Replaces the name and the actions of a macro. Throws 404, 400. */
export async function changeMacro(
  { db, clock }: MacroDeps,
  by: Member,
  id: string,
  { name, actions }: MacroDraft,
): Promise<Macro> {
  await validateMacro(db.sql, by.workspaceId, actions)
  const now = clock.now()
  return db.tx((tx) => {
    const values = { name, actions: tx.json(actions), updatedAt: now }
    return changeItem<Macro>(tx, macros, { by, id, now }, values, columns(tx))
  })
}

export async function deleteMacro({ db, clock }: MacroDeps, by: Member, id: string): Promise<void> {
  await db.tx((tx) => deleteItem(tx, macros, { by, id, now: clock.now() }))
}

export interface MacroResult {
  /** How many actions were done. */
  done: number
  /** Why the next one was not; null: all were. */
  problem: { code: string | null; message: string } | null
}

/**
 * Does the actions of a macro as the person, in order, until one is refused. Repeating a request sends and notes nothing
 * twice. Throws 404.
 */
export async function runMacro(
  deps: SendDeps,
  by: Member,
  { macroId, conversationId, requestId }: { macroId: string; conversationId: string; requestId: string },
): Promise<MacroResult> {
  const { workspaceId, actor, name: authorName } = by
  const macro = (await listMacros(deps.db.sql, workspaceId)).find(({ id }) => id === macroId)
  if (macro === undefined) throw notFound(macros.notFoundMessage)
  for (const [step, action] of macro.actions.entries()) {
    const context = { workspaceId, actor, authorName, conversationId, leadId: null, eventId: null }
    const key = `macro:${requestId}:${step}`
    const problem = await tryToAct(() => act(deps, { ...context, key }, action))
    if (problem !== null) {
      if (step === 0 && problem.statusCode === 404 && problem.data?.code === 'NOT_FOUND') throw problem
      const code = problem.data?.code
      return { done: step, problem: { code: typeof code === 'string' ? code : null, message: problem.message } }
    }
  }
  return { done: macro.actions.length, problem: null }
}

async function tryToAct(work: () => Promise<void>): Promise<ApiError | null> {
  try {
    await work()
    return null
  } catch (error) {
    if (error instanceof NotDelivered)
      return new ApiError(422, 'The chat platform did not deliver the message', { data: { code: 'NOT_DELIVERED' } })
    if (error instanceof ApiError && error.statusCode < 500) return error
    throw error
  }
}

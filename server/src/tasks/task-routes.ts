import { Type } from 'typebox'
import { forbidden, invalid } from '../base/errors.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { cursor, page, text, visiblePattern } from '../base/schema-types.ts'
import { parseTimeWithOffset, timeWithOffsetMessage } from '../base/time.ts'
import type { InboxDeps, Scope } from '../inbox/conversation/conversation.ts'
import { readContacts, readNames } from '../inbox/read/names.ts'
import { decryptListedLead, type ListedLeadRow } from '../leads/lead/encrypted-lead.ts'
import { findLeadsByIds, listedLeadColumns } from '../leads/lead/queries.ts'
import type { Member, TeamGuard } from '../team/member.ts'
import { type TeamApi, teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { changeTask, createTask, deleteTask } from './change-task.ts'
import { listTasks, type Task, taskStates } from './task.ts'

const path = '/api/team/v1/workspaces/:workspaceId/tasks'

const TaskSchema = titled('Task', {
  id: idSchema('The task.'),
  title: text(300, 'What to do.', { example: 'Call about the quote' }),
  dueAt: timestamp('When it is due, and its person is notified.'),
  doneAt: nullable(timestamp('When it was completed; null: it is open.')),
  assignedTo: nullable(titled('TaskPerson', { id: idSchema('The member.'), name: nullable(text(100, 'Their name.')) })),
  lead: nullable(
    titled('TaskLead', { id: idSchema('The lead.'), name: nullable(text(511, 'Its name; null if it was deleted.')) }),
  ),
  conversation: nullable(
    titled('TaskConversation', {
      id: idSchema('The conversation.'),
      name: nullable(text(511, 'Name of the customer.')),
      phone: nullable(text(20, 'Digits with country code; null while the customer hides it.')),
    }),
  ),
  createdBy: titled('TaskAuthor', {
    type: oneOf(['user', 'token', 'agent'] as const, { description: 'A member, a team token or an API key.' }),
    id: idSchema('Their id.'),
    name: nullable(text(200, 'Their name.', { example: 'Ana Lima' })),
  }),
  createdAt: timestamp('Creation time.'),
})

const title = Type.String({
  minLength: 1,
  maxLength: 300,
  pattern: visiblePattern,
  description: 'What to do.',
  example: 'Call about the quote',
})
const assignedTo = nullable(idSchema('A member; null: anyone.'))

const NewTask = Type.Object(
  {
    title,
    dueAt: timestamp('A time with an offset.'),
    assignedTo: Type.Optional(assignedTo),
    leadId: Type.Optional(nullable(idSchema('The lead that it is about.'))),
    conversationId: Type.Optional(nullable(idSchema('The conversation that it is about.'))),
  },
  { ...closed, title: 'NewTask' },
)

const TaskChanges = Type.Object(
  {
    title: Type.Optional(title),
    dueAt: Type.Optional(timestamp('A time with an offset; its person is notified again then.')),
    assignedTo: Type.Optional(assignedTo),
    done: Type.Optional(Type.Boolean({ description: 'Whether it is completed.' })),
  },
  { ...closed, title: 'TaskChanges' },
)

const TasksQuery = Type.Object(
  {
    state: Type.Optional(oneOf(taskStates, { description: '`overdue`: open, and due before now. Default `open`.' })),
    mine: Type.Optional(Type.Boolean({ description: 'Only my own, and those of anyone.' })),
    leadId: Type.Optional(idSchema('Only about this lead, or the conversation.')),
    conversationId: Type.Optional(idSchema('Only about this conversation, or the lead.')),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    cursor: Type.Optional(cursor('`cursor` of the previous page; same filters.')),
  },
  closed,
)

const TaskParams = Type.Object({ ...workspaceParams, taskId: idSchema('The task.') })
const TaskAnswer = Type.Object({ task: TaskSchema })

type TaskDeps = Pick<InboxDeps, 'db' | 'keyStore' | 'clock' | 'findLeads'>

/** Routes for people: tasks. */
export function taskTeamRoutes(app: App, deps: TaskDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Tasks')
  listRoute(api, deps)
  changeRoutes(api, deps)
}

function listRoute(api: TeamApi, deps: TaskDeps): void {
  const { db, keyStore, clock } = deps
  api.get(path, 'member', {
    operationId: 'listTasks',
    summary: 'List tasks',
    description: 'Open ones by due time, done ones with the last first.',
    query: TasksQuery,
    answers: {
      200: Type.Object({ tasks: Type.Array(TaskSchema, page), cursor: nullable(cursor('For the next page.')) }),
    },
    run: async ({ member, query }) => {
      const { state = 'open', mine = false, leadId = null, conversationId = null, limit = 50, cursor = null } = query
      if (mine && member.userId === null) throw forbidden('Only members have tasks. Sign in as a member.')
      const { workspaceId } = member
      const filter = { state, assignedTo: mine ? member.userId : null, leadId, conversationId }
      const found = await keyStore.withKeyring(workspaceId, (keyring) =>
        listTasks({ sql: db.sql, keyring, workspaceId }, filter, { limit, cursor, now: clock.now() }),
      )
      return { tasks: await present(deps, workspaceId, found.tasks), cursor: found.cursor }
    },
  })
}

function changeRoutes(api: TeamApi, deps: TaskDeps): void {
  const presentOne = async (workspaceId: string, task: Task) => {
    const [shown] = await present(deps, workspaceId, [task])
    if (shown === undefined) throw new Error('Task is not presented')
    return { task: shown }
  }
  api.post(path, 'member', {
    operationId: 'createTask',
    summary: 'Create a task',
    description:
      'About a lead, a conversation, both or neither. Its person, or everyone, is notified at the due time. At most 200 of a lead or conversation, and 5,000 of a workspace, can be open.',
    body: NewTask,
    answers: { 201: TaskAnswer },
    errors: [409],
    run: async ({ member, body }) => {
      const { leadId = null, conversationId = null, assignedTo: person = null } = body
      const { task } = await createTask(deps, authorOf(member), {
        title: body.title.trim(),
        dueAt: parseDue(body.dueAt),
        assignedTo: person?.toLowerCase() ?? null,
        leadId: leadId?.toLowerCase() ?? null,
        conversationId: conversationId?.toLowerCase() ?? null,
      })
      return presentOne(member.workspaceId, task)
    },
  })
  api.patch(`${path}/:taskId`, 'member', {
    operationId: 'updateTask',
    summary: 'Change, complete or reopen a task',
    description: 'Fields that are left out stay.',
    params: TaskParams,
    body: TaskChanges,
    answers: { 200: TaskAnswer },
    errors: [409],
    run: async ({ member, params, body }) => {
      const person = body.assignedTo
      const task = await changeTask(deps, authorOf(member), params.taskId.toLowerCase(), {
        ...(body.title !== undefined && { title: body.title.trim() }),
        ...(body.dueAt !== undefined && { dueAt: parseDue(body.dueAt) }),
        ...(person !== undefined && { assignedTo: person?.toLowerCase() ?? null }),
        ...(body.done !== undefined && { isDone: body.done }),
      })
      return presentOne(member.workspaceId, task)
    },
  })
  api.delete(`${path}/:taskId`, 'member', {
    operationId: 'deleteTask',
    summary: 'Delete a task',
    description: 'Open or completed.',
    params: TaskParams,
    run: ({ member, params }) => deleteTask(deps, authorOf(member), params.taskId.toLowerCase()),
  })
}

const authorOf = ({ workspaceId, actor }: Member): Scope & { actor: Member['actor'] } => ({
  workspaceId,
  connectionIds: [],
  actor,
})

/** A due time in the past is allowed: something can be overdue when it is written down. */
function parseDue(words: string): Date {
  const time = parseTimeWithOffset(words)
  if (time === null) throw invalid('dueAt', timeWithOffsetMessage)
  return time
}

/** Adds the names of people, leads and customers, in a few lookups for any number of tasks. */
async function present(deps: TaskDeps, workspaceId: string, tasks: readonly Task[]) {
  const conversationIds = tasks.flatMap(({ conversationId }) => conversationId ?? [])
  const leadIds = tasks.flatMap(({ leadId }) => leadId ?? [])
  const [names, contacts, leads] = await Promise.all([
    readNames(deps, workspaceId, [
      ...tasks.map(({ actor }) => actor),
      ...tasks.flatMap(({ assignedTo: id }) => (id === null ? [] : { type: 'user' as const, id })),
    ]),
    readContacts(deps, workspaceId, conversationIds),
    readLeadNames(deps, workspaceId, leadIds),
  ])
  return tasks.map(({ assignedTo: userId, conversationId, leadId, actor, ...task }) => {
    const { name = null, phone = null } = contacts.get(conversationId ?? '') ?? {}
    return {
      ...{ id: task.id, title: task.title },
      dueAt: task.dueAt.toISOString(),
      doneAt: task.doneAt?.toISOString() ?? null,
      assignedTo: userId === null ? null : { id: userId, name: names('user', userId) },
      lead: leadId === null ? null : { id: leadId, name: leads.get(leadId) ?? null },
      conversation: conversationId === null ? null : { id: conversationId, name, phone },
      createdBy: { ...actor, name: names(actor.type, actor.id) },
      createdAt: task.createdAt.toISOString(),
    }
  })
}

async function readLeadNames({ db, keyStore }: TaskDeps, workspaceId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, string>()
  const rows = await findLeadsByIds<ListedLeadRow>(db.sql, workspaceId, [...new Set(ids)], listedLeadColumns(db.sql))
  return keyStore.withKeyring(workspaceId, async (keyring) => {
    const leads = rows.map((row) => decryptListedLead(keyring, row))
    return new Map(leads.map(({ id, firstName, lastName }) => [id, [firstName, lastName].join(' ').trim()]))
  })
}

import { type Static, Type } from 'typebox'
import { newId } from '../base/id.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../base/route.ts'
import { count, text } from '../base/schema-types.ts'
import type { WorkspaceSql } from '../inbox/conversation/conversation.ts'
import { readContacts } from '../inbox/read/names.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import { TeamConversationParams } from '../inbox/team-api/inbox-schema.ts'
import { conversationsPath, requireInbox } from '../inbox/team-api/present-conversation.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { readSituations } from './facts.ts'
import { findWaits } from './find-overdue.ts'
import { compileRule, type Rule, readsLead, unmetConditions } from './judge.ts'
import { changeMacro, createMacro, deleteMacro, listMacros, type Macro, runMacro } from './macros.ts'
import { isOfFeed, readNewestActivities, readNewestOfFeed } from './occurrences.ts'
import { isWait, limits, MacroDraft, MacroSchema, RuleChange, RuleDraft, RuleSchema } from './rule-schema.ts'
import { changeRule, checkRule, createRule, deleteRule, listRules, orderRules, type RuleDeps } from './rules.ts'
import { type LoggedRun, listRuns, logPage } from './runs.ts'
import { findProblems, validateRule } from './validate-rule.ts'

export interface AutomationRouteDeps extends RuleDeps {
  sends: SendDeps
}

const path = '/api/team/v1/workspaces/:workspaceId/automation'
const ruleParams = Type.Object({ ...workspaceParams, ruleId: idSchema('The rule.') })
const macroParams = Type.Object({ ...workspaceParams, macroId: idSchema('The macro.') })

const Rules = Type.Object({
  rules: Type.Array(RuleSchema, { maxItems: limits.rules, description: 'In order.' }),
  maxEnabled: count('How many can be on.', { example: 200 }),
})
const oneRule = Type.Object({ rule: RuleSchema })
const oneMacro = Type.Object({ macro: MacroSchema })

const maxTried = 100

const customer = {
  conversationId: nullable(idSchema('The conversation.')),
  leadId: nullable(idSchema('The lead, if the event was one of a lead.')),
  name: nullable(text(300, 'Name of the customer.', { example: 'Marina Duarte' })),
}

const Tried = titled('AutomationDryRun', {
  events: Type.Array(
    titled('AutomationTriedEvent', {
      at: timestamp('When it happened, or when the time had passed.'),
      ...customer,
      acts: Type.Boolean({ description: 'Whether the rule would act on it now.' }),
      unmet: Type.Array(count(), {
        maxItems: limits.conditions,
        description: 'Positions of conditions that do not hold.',
      }),
      isOfRule: Type.Boolean({ description: 'Whether a rule caused it, and this one does not follow rules.' }),
    }),
    { maxItems: maxTried, description: 'Newest first.' },
  ),
})

const Log = titled('AutomationLog', {
  runs: Type.Array(
    titled('AutomationRun', {
      id: idSchema('The run.'),
      ...customer,
      state: oneOf(['pending', 'done', 'failed', 'skipped'] as const, {
        description: '`skipped`: it did nothing, or nothing more, because something had changed.',
      }),
      step: count('How many actions were done.', { example: 2 }),
      code: nullable(
        text(60, 'Why it failed or was skipped, such as `WINDOW_CLOSED` or `condition`.', { example: 'WINDOW_CLOSED' }),
      ),
      condition: nullable(count('Position of the condition that did not hold.')),
      dueAt: nullable(timestamp('When it continues.')),
      createdAt: timestamp('When it began.'),
    }),
    { maxItems: logPage, description: 'Newest first.' },
  ),
  before: nullable(idSchema('Value for `before` of the next page; null at the end.')),
})

/** Adds the routes of rules, which admins manage, and of macros, which members run. */
export function automationTeamRoutes(app: App, deps: AutomationRouteDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Automation')
  ruleRoutes(api, deps)
  dryRunRoutes(api, deps)
  macroRoutes(api, deps)
}

type Api = ReturnType<typeof teamApi>

function ruleRoutes(api: Api, deps: AutomationRouteDeps): void {
  const { db } = deps
  const present = async (workspaceId: string, rules: readonly Rule[]) => {
    const problems = await findProblems(db.sql, workspaceId, rules)
    return rules.map((rule, n) => presentRule(rule, problems[n] ?? []))
  }
  const presentOne = async (workspaceId: string, id: string) => {
    const rules = (await listRules(db.sql, workspaceId)).filter((rule) => rule.id === id)
    const [rule] = await present(workspaceId, rules)
    if (rule === undefined) throw new Error('A rule was expected')
    return { rule }
  }
  api.get(`${path}/rules`, 'admin', {
    operationId: 'listAutomationRules',
    summary: 'List automation rules',
    description: 'In the order in which they are judged. For admins.',
    answers: { 200: Rules },
    run: async ({ member: { workspaceId } }) => ({
      rules: await present(workspaceId, await listRules(db.sql, workspaceId)),
      maxEnabled: deps.maxEnabled,
    }),
  })
  api.post(`${path}/rules`, 'admin', {
    operationId: 'createAutomationRule',
    summary: 'Create an automation rule',
    description: 'At the end of the list, switched off. It acts on events after it is switched on. For admins.',
    body: RuleDraft,
    answers: { 201: oneRule },
    errors: [409],
    run: async ({ member, body }) => presentOne(member.workspaceId, await createRule(deps, member, body)),
  })
  api.patch(`${path}/rules/:ruleId`, 'admin', {
    operationId: 'updateAutomationRule',
    summary: 'Change an automation rule',
    description:
      'What waits for its actions is left out if its trigger, conditions or actions change, or it is switched off. For admins.',
    params: ruleParams,
    body: RuleChange,
    answers: { 200: oneRule },
    errors: [409],
    run: async ({ member, params, body }) => {
      const id = params.ruleId.toLowerCase()
      await changeRule(deps, member, id, body)
      return presentOne(member.workspaceId, id)
    },
  })
  api.delete(`${path}/rules/:ruleId`, 'admin', {
    operationId: 'deleteAutomationRule',
    summary: 'Delete an automation rule',
    description: 'What it has done stays. For admins.',
    params: ruleParams,
    run: ({ member, params }) => deleteRule(deps, member, params.ruleId.toLowerCase()),
  })
  api.put(`${path}/order`, 'admin', {
    operationId: 'orderAutomationRules',
    summary: 'Order automation rules',
    description: 'For admins.',
    body: Type.Object(
      { ids: Type.Array(idSchema('A rule.'), { maxItems: limits.rules, description: 'All rules, in order.' }) },
      closed,
    ),
    run: ({ member, body }) => {
      const ids = body.ids.map((id) => id.toLowerCase())
      return orderRules(deps, member, ids)
    },
  })
}

function dryRunRoutes(api: Api, deps: AutomationRouteDeps): void {
  const { db, sends } = deps
  api.post(`${path}/dry-runs`, 'admin', {
    operationId: 'dryRunAutomationRule',
    summary: 'Try an automation rule',
    description: `Judges a rule, saved or not, by the newest ${maxTried} events that can start it, or the waits that would start it now. Changes nothing. For admins.`,
    body: RuleDraft,
    answers: { 200: Tried },
    run: async ({ member: { workspaceId }, body }) => {
      await validateRule(db.sql, workspaceId, body)
      // So that the feed has what was committed until now.
      await deps.sequencer.sequence(workspaceId)
      return { events: await tryRule(sends, workspaceId, body) }
    },
  })
  api.get(`${path}/rules/:ruleId/runs`, 'admin', {
    operationId: 'listAutomationRuns',
    summary: 'List what a rule did',
    description: `The newest ${logPage}, or those before a run. Also some of the events that it left alone. Kept for 30 days. For admins.`,
    params: ruleParams,
    query: Type.Object({ before: Type.Optional(idSchema('`before` of a page.')) }, closed),
    answers: { 200: Log },
    run: async ({ member: { workspaceId }, params, query }) => {
      await checkRule(db.sql, workspaceId, params.ruleId)
      const runs = await listRuns(db.sql, workspaceId, params.ruleId, query.before ?? null)
      const ids = runs.flatMap(({ conversationId }) => conversationId ?? [])
      const contacts = await readContacts(sends, workspaceId, ids)
      const nameOf = (id: string | null) => contacts.get(id ?? '')?.name ?? null
      return {
        runs: runs.map((run) => presentRun(run, nameOf(run.conversationId))),
        before: runs.length === logPage ? (runs.at(-1)?.id ?? null) : null,
      }
    },
  })
}

function macroRoutes(api: Api, deps: AutomationRouteDeps): void {
  const { db, sends } = deps
  api.get(`${path}/macros`, 'member', {
    operationId: 'listMacros',
    summary: 'List macros',
    description: 'Returns all, sorted by name.',
    answers: { 200: Type.Object({ macros: Type.Array(MacroSchema, { maxItems: limits.macros }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ macros: (await listMacros(db.sql, member.workspaceId)).map(presentMacro) }),
  })
  api.post(`${path}/macros`, 'admin', {
    operationId: 'createMacro',
    summary: 'Create a macro',
    description: 'For admins.',
    body: MacroDraft,
    answers: { 201: oneMacro },
    errors: [409],
    run: async ({ member, body }) => ({ macro: presentMacro(await createMacro(deps, member, body)) }),
  })
  api.put(`${path}/macros/:macroId`, 'admin', {
    operationId: 'replaceMacro',
    summary: 'Change a macro',
    description: 'For admins.',
    params: macroParams,
    body: MacroDraft,
    answers: { 200: oneMacro },
    run: async ({ member, params, body }) => ({
      macro: presentMacro(await changeMacro(deps, member, params.macroId, body)),
    }),
  })
  api.delete(`${path}/macros/:macroId`, 'admin', {
    operationId: 'deleteMacro',
    summary: 'Delete a macro',
    description: 'For admins.',
    params: macroParams,
    run: ({ member, params }) => deleteMacro(deps, member, params.macroId),
  })
  api.post(`${conversationsPath}/:id/macros/:macroId`, 'member', {
    operationId: 'runMacro',
    summary: 'Run a macro on a conversation',
    description:
      'Does its actions in order, as the calling member, until one is refused. Repeating a request with its `requestId` sends and notes nothing twice.',
    params: Type.Object({ ...TeamConversationParams.properties, macroId: idSchema('The macro.') }),
    body: Type.Object(
      { requestId: Type.Optional(idSchema('Generated by the caller, for each time that it is run.')) },
      closed,
    ),
    answers: {
      200: titled('MacroResult', {
        done: count('How many actions were done.', { example: 3 }),
        problem: nullable(
          titled('MacroProblem', {
            code: nullable(text(60, 'Code of the refusal.', { example: 'WINDOW_CLOSED' })),
            message: text(1000, 'Why the next action was not done.'),
          }),
        ),
      }),
    },
    errors: [429, 503],
    run: ({ member, params, body }) => {
      requireInbox(member)
      const requestId = body.requestId?.toLowerCase() ?? newId(deps.clock.now())
      return runMacro(sends, member, {
        ...{ macroId: params.macroId.toLowerCase(), conversationId: params.id.toLowerCase(), requestId },
      })
    },
  })
}

const presentRule = ({ version: _, enabledAt: __, createdAt, updatedAt, ...rule }: Rule, problems: string[]) => ({
  ...rule,
  problems,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})

const presentRun = ({ dueAt, createdAt, ...run }: LoggedRun, name: string | null) => ({
  ...run,
  name,
  dueAt: dueAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
})

const presentMacro = (macro: Macro) => ({
  ...macro,
  createdAt: macro.createdAt.toISOString(),
  updatedAt: macro.updatedAt.toISOString(),
})

/**
 * Judges a rule, saved or not, by the newest 100 events that can start it, or the waits that would start it now. What
 * can change is compared as it is now. Changes nothing.
 */
async function tryRule(deps: SendDeps, workspaceId: string, draft: RuleDraft): Promise<Static<typeof Tried>['events']> {
  const now = deps.clock.now()
  const ever = new Date(0)
  const rule: Rule = {
    ...draft,
    ...{ id: nobody, enabled: true, version: 1, enabledAt: ever, createdAt: ever, updatedAt: ever },
  }
  const compiled = compileRule(rule)
  const situations = await deps.keyStore.withKeyring(workspaceId, async (keyring) => {
    const reader = { sql: deps.db.sql, keyring, workspaceId }
    const found = await readOccurrences(reader, rule, now)
    return readSituations(reader, found.slice(0, maxTried), { readsLead: readsLead(compiled), now })
  })
  const conversationIds = situations.flatMap(({ conversation }) => conversation?.id ?? [])
  const names = await readContacts(deps, workspaceId, conversationIds)
  return situations.map(({ occurrence: { at, leadId }, conversation, lead, facts, causedBy }) => {
    const unmet = unmetConditions(compiled, facts)
    const isOfRule = causedBy !== null && !draft.followsRules
    const name = names.get(conversation?.id ?? '')?.name ?? nameOf(lead)
    const conversationId = conversation?.id ?? null
    return {
      at: at.toISOString(),
      conversationId,
      leadId,
      name,
      acts: unmet.length === 0 && !isOfRule,
      unmet,
      isOfRule,
    }
  })
}

/** No rule has this id, so that none has acted. */
const nobody = '00000000-0000-0000-0000-000000000000'

const nameOf = (lead: { firstName: string; lastName: string | null } | null): string | null =>
  lead === null ? null : [lead.firstName, lead.lastName].filter(Boolean).join(' ')

function readOccurrences(reader: WorkspaceSql, rule: Rule, now: Date) {
  const { trigger } = rule
  if (isWait(trigger)) {
    const weekAgo = new Date(now.getTime() - 7 * 86_400_000)
    return findWaits(reader, rule, { timersAt: weekAgo, now })
  }
  return isOfFeed(trigger)
    ? readNewestOfFeed(reader, trigger, maxTried)
    : readNewestActivities(reader, trigger, maxTried)
}

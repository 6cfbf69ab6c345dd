import { Type } from 'typebox'
import { scopes } from '../auth/api-keys/caller.ts'
import { cacheableKey } from '../auth/api-keys/key-cache.ts'
import { selectKeyAsCaller } from '../auth/api-keys/queries.ts'
import type { RateLimitResult } from '../auth/rate-limit/limiter.ts'
import { type Limits, limitOf } from '../auth/rate-limit/request-limits.ts'
import { notFound } from '../base/errors.ts'
import { type App, oneOf, titled } from '../base/route.ts'
import { text } from '../base/schema-types.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { findVersion } from '../workspaces/instructions/versions.ts'
import { type AgentDeps, type AgentTool, alwaysOn, areaFor, canUse } from './define-tool.ts'
import { toListing } from './mcp/mcp-tools.ts'
import { describeAgent, whoAmI } from './tools/who-am-i.ts'

const path = '/api/team/v1/workspaces/:workspaceId'
const maxTools = 100

const anyObject = (description: string, example: object) =>
  Type.Unsafe<object>({ type: 'object', additionalProperties: true, description, example })

export interface PreviewDeps {
  inbox: Pick<AgentDeps['inbox'], 'db' | 'clock'>
  limits: Limits
}

/** Adds the routes that show people what an agent receives, by the functions that answer the agent. */
export function previewTeamRoutes(
  app: App,
  { inbox, limits }: PreviewDeps,
  tools: readonly AgentTool[],
  guard: TeamGuard,
): void {
  const api = teamApi(app, guard, 'Agent instructions')
  const { db, clock } = inbox
  api.get(`${path}/agent-tools`, 'member', {
    operationId: 'listAgentTools',
    summary: 'List the tools of agents',
    description:
      'Tools of the interface for agents, in order. A key with one of the scopes can call the tool, unless its `toolsOff` names it.',
    answers: { 200: Type.Object({ tools: Type.Array(toolSchema, { maxItems: maxTools }) }) },
    allErrors: [400, 401, 404],
    run: () => ({
      tools: tools.map(({ name, title, scopes: anyOf }) => ({
        ...{ name, title, scopes: [...anyOf] },
        canBeOff: name !== alwaysOn,
      })),
    }),
  })
  api.get(`${path}/keys/:keyId/preview`, 'admin', {
    operationId: 'previewAgent',
    summary: 'Preview what an agent receives',
    description:
      'For admins. Returns what the key would get from who_am_i and from `tools/list` of the MCP server now, or once a draft of instructions is published. Counts no call.',
    params: Type.Object({ ...workspaceParams, keyId: idSchema('The key.') }),
    query: Type.Object({ draftId: Type.Optional(idSchema('A draft of instructions.')) }, closed),
    answers: {
      200: Type.Object({
        whoAmI: anyObject('Output of who_am_i, as in `/api/v2/openapi.json`.', {
          owner: 'agent:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e',
        }),
        tools: Type.Array(anyObject('A tool of the MCP server.', { name: 'answer' }), { maxItems: maxTools }),
      }),
    },
    run: async ({ member, params, query }) => {
      const { workspaceId } = member
      const row = await selectKeyAsCaller(db.sql, workspaceId, params.keyId, clock.now())
      if (row === null) throw notFound('No active API key with this id')
      const { caller } = cacheableKey(row)
      const draft = query.draftId === undefined ? null : await findVersion(db.sql, workspaceId, query.draftId)
      if (draft === undefined || (draft !== null && draft.publishedAt !== null)) {
        throw notFound('No draft of instructions with this id')
      }
      const rateLimitLeft = unusedRate(limitOf(limits, areaFor(whoAmI, caller)))
      return {
        whoAmI: await describeAgent({ inbox }, { ...caller, rateLimitLeft }, draft),
        tools: tools.filter((tool) => canUse(caller, tool)).map(toListing),
      }
    },
  })
}

const toolSchema = titled('AgentToolInfo', {
  name: text(64, 'Its name, for `toolsOff`.', { example: 'start_conversation' }),
  title: text(100, 'What it does, in English.', { example: 'Start a conversation' }),
  scopes: Type.Array(oneOf(scopes, { title: 'Scope' }), {
    maxItems: scopes.length,
    description: 'One of them is needed.',
  }),
  canBeOff: Type.Boolean({ description: 'False for the tool that tells agents what is switched off.' }),
})

const unusedRate = (limit: number): RateLimitResult | null =>
  limit === 0 ? null : { allowed: true, limit, remaining: limit, resetSeconds: 0, retryAfterSeconds: 0 }

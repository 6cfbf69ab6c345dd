import { type Static, type TOptional, type TString, Type } from 'typebox'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, text, visiblePattern } from '../../base/schema-types.ts'
import { recordAudit } from '../../team/audit.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { leadPathParams, leadsPath, leadUserOfMember } from '../api/lead-request.ts'
import { makeLeadReader } from '../lead/find-lead.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { NoQuery } from '../lead/schema.ts'
import {
  findAttribution,
  maxTouchText,
  type Touch,
  type TouchField,
  touchChannels,
  touchFields,
} from './attribution.ts'
import { backFill } from './lead-ads.ts'
import { leadAdMapping, leadTargets, maxMapped, maxPathLength, touchTargets } from './mapping.ts'
import type { SourceDeps } from './process-requests.ts'
import { type Content, listRequests, maxShown, requestStatuses, retryRequest, type SourceRequest } from './requests.ts'
import {
  changeSource,
  createSource,
  deleteSource,
  type LeadSource,
  listSources,
  matchFields,
  maxSources,
  requireSource,
  sourceKinds,
  sourceProofs,
} from './source.ts'

export interface SourceTeamDeps extends SourceDeps {
  /** Public base URL, without a trailing slash. */
  publicUrl: string
}

const path = '/api/team/v1/workspaces/:workspaceId/lead-sources'
const sourceParams = Type.Object({ ...workspaceParams, sourceId: idSchema('The lead source.') })
const requestParams = Type.Object({ ...sourceParams.properties, requestId: idSchema('The request.') })

const platformId = (description: string) =>
  Type.String({ pattern: '^[0-9]{1,30}$', maxLength: 30, description, example: '106540352242922' })

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: visiblePattern,
    description: 'For the team.',
    example: 'Landing page',
  }),
  isEnabled: Type.Boolean({ description: 'Without it, its URL answers 404.' }),
  proof: oneOf(sourceProofs, {
    description: 'How a webhook proves who sends it: `signature` (Standard Webhooks), or `url`, a secret in its URL.',
  }),
  match: oneOf(matchFields, {
    description: 'The field by which an existing lead is found. With `phone`, the e-mail if a request has no phone.',
  }),
  mapping: Type.Array(
    Type.Object(
      {
        path: Type.String({
          minLength: 1,
          maxLength: maxPathLength,
          description: 'Where the value is in the body; for lead ads the name of the question.',
          example: 'contact.phones[0].number',
        }),
        field: Type.String({
          minLength: 1,
          maxLength: 60,
          description: `One of ${[...leadTargets, ...touchTargets].join(', ')}, or custom.<key>.`,
          example: 'phone',
        }),
      },
      { ...closed, title: 'MappedField' },
    ),
    { maxItems: maxMapped, description: 'What becomes which field. It sets the matched field and a name.' },
  ),
  idPath: nullable(
    Type.String({
      minLength: 1,
      maxLength: maxPathLength,
      description: 'Where the sender’s own id of the request is. Null: `webhook-id`, else the bytes of the body.',
      example: 'id',
    }),
  ),
  connectionId: nullable(idSchema('For lead ads: the connection whose app calls and whose token reads the leads.')),
  pageId: nullable(platformId('For lead ads: only leads of this page; null: of all pages.')),
  formIds: Type.Array(platformId('A form.'), {
    maxItems: 100,
    description: 'Only leads of these forms; empty: all.',
    example: [],
  }),
}
const kind = oneOf(sourceKinds, { description: '`lead_ads`: forms in ads of the platform.' })

const { name, mapping, ...others } = fields
const NewSource = Type.Object(
  { kind, name, mapping: Type.Optional(mapping), ...Type.Partial(Type.Object(others)).properties },
  { ...closed, title: 'NewLeadSource', example: { kind: 'webhook', name: 'Landing page' } },
)
const SourceChange = Type.Object(
  {
    ...Type.Partial(Type.Object(fields)).properties,
    newSecret: Type.Optional(Type.Boolean({ description: 'Replaces the secret; the old one ends at once.' })),
  },
  { ...closed, title: 'LeadSourceChange', minProperties: 1, example: { isEnabled: false } },
)

const Source = titled('TeamLeadSource', {
  id: idSchema('The lead source.'),
  kind,
  ...fields,
  url: text(2000, 'Where it sends to; with the secret if that is its proof.'),
  secret: text(200, 'Signing secret, secret of the URL, or for lead ads the verify token.'),
  createdAt: timestamp('When it was created.'),
})
const OneSource = Type.Object({ source: Source })

const Request = titled('LeadSourceRequest', {
  id: idSchema('The request.'),
  status: oneOf(requestStatuses, { description: '`waiting`: it becomes a lead within seconds, or is tried again.' }),
  receivedAt: timestamp('When it was received.'),
  body: text(4000, 'Beginning of the body; for lead ads the answers.'),
  leadId: nullable(idSchema('The lead.')),
  action: nullable(oneOf(['created', 'updated'] as const, { description: 'What happened to the lead.' })),
  fields: Type.Record(Type.String({ maxLength: 60 }), Type.String({ maxLength: 255 }), {
    maxProperties: 100,
    description: 'What it was mapped to.',
    example: { phone: '+55 81 99123-4567' },
  }),
  issues: Type.Array(
    Type.Object({
      path: text(300, 'The field; empty for the whole request.', { example: 'phone' }),
      message: text(1000, 'What is wrong.', { example: 'is required' }),
    }),
    { maxItems: 20, description: 'Why it became no lead.' },
  ),
})

const TouchSchema = titled('LeadTouch', {
  channel: oneOf(touchChannels, { description: 'How the lead came.' }),
  at: timestamp('When.'),
  ...(Object.fromEntries(
    touchFields.map((field) => [field, Type.Optional(text(maxTouchText, `\`${field}\` of the campaign.`))]),
  ) as Record<TouchField, TOptional<TString>>),
})

function present({ settings, createdAt, ...source }: LeadSource, workspaceId: string, publicUrl: string) {
  const { secret, ...rest } = settings
  const url = `${publicUrl}/hooks/leads/${workspaceId}/${source.id}`
  const isInUrl = source.kind === 'webhook' && settings.proof === 'url'
  return {
    ...{ ...source, ...rest, secret },
    url: isInUrl ? `${url}?token=${secret}` : url,
    createdAt: createdAt.toISOString(),
  }
}

const bodyOf = (content: Content): string =>
  (content.kind === 'lead_ad' ? JSON.stringify(content.lead ?? { id: content.leadId }) : content.body)
    .slice(0, 4000)
    .toWellFormed()

function presentRequest({ id, status, receivedAt, content, result, leadId }: SourceRequest) {
  return {
    ...{ id, status, leadId },
    receivedAt: receivedAt.toISOString(),
    body: bodyOf(content),
    action: result?.action ?? null,
    fields: result?.fields ?? {},
    issues: result?.issues ?? [],
  }
}

/** Adds the routes of lead sources, for admins. */
export function leadSourceRoutes(api: TeamApi, deps: SourceTeamDeps): void {
  listAndChangeRoutes(api, deps)
  requestRoutes(api, deps)
}

function listAndChangeRoutes(api: TeamApi, deps: SourceTeamDeps): void {
  const { db, keyStore, clock, publicUrl } = deps
  const write = <T>(member: Member, action: string, work: (at: Parameters<typeof createSource>[0]) => Promise<T>) => {
    const { workspaceId, actor } = member
    const now = clock.now()
    return keyStore.withKeyring(workspaceId, (keyring) =>
      db.tx(async (tx) => {
        const result = await work({ tx, keyring, workspaceId, now })
        await recordAudit(tx, { scopeId: workspaceId, actor, action, target: null }, now)
        return result
      }),
    )
  }
  api.get(path, 'admin', {
    operationId: 'listLeadSources',
    summary: 'List lead sources',
    description: 'Webhooks and lead ads that create leads, oldest first, with their secrets. For admins.',
    answers: { 200: Type.Object({ sources: Type.Array(Source, { maxItems: maxSources }) }) },
    run: async ({ member: { workspaceId } }) => {
      const sources = await keyStore.withKeyring(workspaceId, (keyring) => listSources(db.sql, keyring, workspaceId))
      return { sources: sources.map((one) => present(one, workspaceId, publicUrl)) }
    },
  })
  api.post(path, 'admin', {
    operationId: 'createLeadSource',
    summary: 'Create a lead source',
    description: 'For admins; at most 50. Lead ads have a mapping of the usual questions by default.',
    body: NewSource,
    answers: { 201: OneSource },
    errors: [422],
    run: async ({ member, body }) => {
      const defaults = body.kind === 'lead_ads' ? [...leadAdMapping] : defaultMapping
      const source = await write(member, 'lead_source.created', (work) =>
        createSource(work, { ...newSource, mapping: defaults, ...body, connectionId: lower(body.connectionId) }),
      )
      return { source: present(source, member.workspaceId, publicUrl) }
    },
  })
  api.patch(`${path}/:sourceId`, 'admin', {
    operationId: 'updateLeadSource',
    summary: 'Change a lead source',
    description: 'For admins. The mapping applies to requests that are processed from now on.',
    params: sourceParams,
    body: SourceChange,
    answers: { 200: OneSource },
    run: async ({ member, params, body: { connectionId, ...body } }) => {
      const changes = { ...body, ...(connectionId !== undefined && { connectionId: lower(connectionId) }) }
      const source = await write(member, 'lead_source.changed', (work) => changeSource(work, params.sourceId, changes))
      return { source: present(source, member.workspaceId, publicUrl) }
    },
  })
  api.delete(`${path}/:sourceId`, 'admin', {
    operationId: 'deleteLeadSource',
    summary: 'Delete a lead source',
    description: 'For admins. Its requests are deleted too; its leads stay.',
    params: sourceParams,
    run: async ({ member, params }) => {
      await write(member, 'lead_source.deleted', ({ tx, workspaceId }) =>
        deleteSource(tx, workspaceId, params.sourceId),
      )
    },
  })
}

const defaultMapping: { path: string; field: string }[] = [
  { path: 'name', field: 'name' },
  { path: 'phone', field: 'phone' },
  { path: 'email', field: 'email' },
]
const newSource = {
  ...{ isEnabled: true, proof: 'signature' as const, match: 'phone' as const },
  ...{ idPath: null, pageId: null, formIds: [] },
}

const lower = (id: string | null | undefined): string | null => id?.toLowerCase() ?? null

function requestRoutes(api: TeamApi, deps: SourceTeamDeps): void {
  const { db, keyStore, clock } = deps
  api.get(`${path}/:sourceId/requests`, 'admin', {
    operationId: 'listLeadSourceRequests',
    summary: 'List what a lead source has sent',
    description: 'The last 20 requests, what each was mapped to, and why one failed. Kept for 30 days. For admins.',
    params: sourceParams,
    answers: { 200: Type.Object({ requests: Type.Array(Request, { maxItems: maxShown }) }) },
    run: async ({ member: { workspaceId }, params }) => {
      const requests = await keyStore.withKeyring(workspaceId, async (keyring) => {
        const { id } = await requireSource(db.sql, keyring, workspaceId, params.sourceId)
        return listRequests(db.sql, keyring, workspaceId, id)
      })
      return { requests: requests.map(presentRequest) }
    },
  })
  api.post(`${path}/:sourceId/requests/:requestId/retry`, 'admin', {
    operationId: 'retryLeadSourceRequest',
    summary: 'Process a failed request again',
    description: 'With the mapping as it is now. 409 if the request did not fail. For admins.',
    params: requestParams,
    errors: [409],
    run: async ({ member: { workspaceId }, params }) => {
      const now = clock.now()
      await keyStore.withKeyring(workspaceId, (keyring) =>
        db.tx((tx) => retryRequest({ tx, keyring, workspaceId, now }, params.sourceId, params.requestId)),
      )
    },
  })
  api.post(`${path}/:sourceId/back-fill`, 'admin', {
    operationId: 'backFillLeadSource',
    summary: 'Fetch earlier leads of a form',
    description:
      'For lead ads: reads up to 500 leads of a form from the platform; repeat it with `after` until that is null. Leads that were received before change nothing. For admins.',
    params: sourceParams,
    body: Type.Object(
      { formId: platformId('The form.'), after: Type.Optional(text(1000, '`after` of the call before.')) },
      { ...closed, example: { formId: '106540352242922' } },
    ),
    answers: {
      200: Type.Object({
        found: count('Leads that were read.'),
        added: count('Those that were new.'),
        after: nullable(text(1000, 'For the next call; null at the end.')),
      }),
    },
    errors: [409, 422, 429],
    run: async ({ member: { workspaceId }, params, body: { formId, after = null } }) => {
      const source = await keyStore.withKeyring(workspaceId, (keyring) =>
        requireSource(db.sql, keyring, workspaceId, params.sourceId),
      )
      return backFill(deps, workspaceId, source, { formId, after })
    },
  })
}

const presentTouch = ({ at, ...touch }: Touch): Static<typeof TouchSchema> => ({ ...touch, at: at.toISOString() })

/** Adds the route of how a lead came. */
export function attributionRoute(api: TeamApi, deps: LeadDeps): void {
  const { db, keyStore } = deps
  const readLead = makeLeadReader(deps)
  api.get(`${leadsPath}/:identifier/attribution`, 'member', {
    operationId: 'getLeadAttribution',
    summary: 'Get how a lead came',
    description:
      'The first and the last time that it came by a form, the website, an ad or a lead source, with campaign and click ids. Null: nothing is known.',
    params: leadPathParams,
    query: NoQuery,
    answers: {
      200: Type.Object({
        first: Type.Union([TouchSchema, Type.Null()]),
        last: Type.Union([TouchSchema, Type.Null()]),
      }),
    },
    run: async ({ member, params }) => {
      const user = leadUserOfMember(member)
      const { id } = await readLead(user, params.identifier)
      const found = await keyStore.withKeyring(user.workspaceId, (keyring) =>
        findAttribution(db.sql, keyring, user.workspaceId, id),
      )
      return { first: found && presentTouch(found.first), last: found && presentTouch(found.last) }
    },
  })
}

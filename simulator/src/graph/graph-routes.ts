import { randomInt } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../server/src/base/route.ts'
import { verifyCallback } from '../callbacks/webhook-payload.ts'
import { describeStatus } from '../number-status.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber, SimulatedTemplate } from '../world.ts'
import { handleMessage, messageEndpoints } from './accept-message.ts'
import { answerOr } from './fault-answer.ts'
import { expiredToken, GraphError, invalidParameter, isObject, unknownObject } from './graph-error.ts'
import { answerAddress, answerUpload, bytesRoute, fileOf, noteCall } from './media-routes.ts'

const defaultLimit = 25
const maxLimit = 1000

/** Returns a page of templates. Has `next` only if there is another page; `address` is the list's URL, for `next`. */
function listTemplates(all: Iterable<SimulatedTemplate>, query: Record<string, string>, address: string): object {
  const limit = query.limit === undefined ? defaultLimit : Number(query.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) throw invalidParameter('Param limit is not valid.')
  const fits = [...all].filter((template) => matches(template, query))
  const start = query.after === undefined ? 0 : placeOf(query.after)
  const page = fits.slice(start, start + limit)
  const end = start + page.length
  const cursors = { before: cursorOf(start), after: cursorOf(end) }
  if (page.length === 0) return { data: [] }
  return {
    data: page,
    paging: end < fits.length ? { cursors, next: nextOf(address, query, cursors.after) } : { cursors },
  }
}

function matches(template: SimulatedTemplate, query: Record<string, string>): boolean {
  const { name, status, category, language } = query
  return (
    (name === undefined || template.name === name) &&
    (status === undefined || template.status === status) &&
    (category === undefined || template.category === category) &&
    (language === undefined || template.language === language)
  )
}

const cursorOf = (place: number): string => `${Buffer.from(String(place)).toString('base64url')}ZD`

function placeOf(cursor: string): number {
  const text = Buffer.from(cursor.replace(/ZD$/, ''), 'base64url').toString()
  if (!/^\d{1,6}$/.test(text)) throw invalidParameter('Param after is not a valid cursor.')
  return Number(text)
}

function nextOf(address: string, query: Record<string, string>, after: string): string {
  return `${address}?${new URLSearchParams({ ...query, after })}`
}

type ObjectRequest = FastifyRequest<{
  Params: { version: string; objectId: string }
  Querystring: Record<string, string>
}>

const root = '/:version(^v\\d{1,2}\\.\\d$)/:objectId'

/** Registers the platform's own API, under any version. Its vendor documents it, hence it is hidden here. */
export function graphRoutes(app: App, platform: Platform): void {
  app.setErrorHandler((error, _request, reply) => answerError(platform, error, reply))
  app.addHook('preHandler', async (request) => noteCall(platform, request))
  const schema = { hide: true }
  for (const endpoint of messageEndpoints) {
    app.post(`${root}/${endpoint}`, { schema }, (request: ObjectRequest, reply) =>
      handleMessage(platform, numberOf(platform, request), request.body, reply, endpoint),
    )
  }
  app.get(`${root}/message_templates`, { schema }, (request: ObjectRequest, reply) => {
    const number = accountOf(platform, request)
    const { templates } = platform.world
    return answerOr(platform, reply, 'templates', () =>
      listTemplates(templates.values(), request.query, baseOf(request, number)),
    )
  })
  app.get(`${root}/phone_numbers`, { schema }, (request: ObjectRequest) => {
    const { accountId } = accountOf(platform, request)
    const numbers = [...platform.world.numbers.values()].filter((number) => number.accountId === accountId)
    return { data: numbers.map((number) => describe(number)) }
  })
  subscriptionRoutes(app, platform)
  mediaRoutes(app, platform)
  app.get(root, { schema }, (request: ObjectRequest, reply) => {
    const { objectId } = request.params
    if (request.query.fields === 'marketing_messages_onboarding_status') {
      return { id: accountOf(platform, request).accountId, marketing_messages_onboarding_status: 'ONBOARDED' }
    }
    if (platform.files.find(objectId) !== undefined) {
      const file = fileOf(platform, numberOfFile(platform, request), objectId)
      return answerAddress(platform, file, `${request.protocol}://${request.host}`, reply)
    }
    return pick(describe(numberOf(platform, request)), request.query.fields)
  })
  app.post(root, { schema }, async (request: ObjectRequest) => {
    const number = numberOf(platform, request)
    const setting = isObject(request.body) ? request.body.webhook_configuration : undefined
    if (!isObject(setting)) throw invalidParameter('The parameter webhook_configuration is required.')
    await overrideCallback(number, setting)
    return { success: true }
  })
}

function subscriptionRoutes(app: App, platform: Platform): void {
  const schema = { hide: true }
  app.get(`${root}/subscribed_apps`, { schema }, (request: ObjectRequest) => {
    const { subscribed } = accountOf(platform, request)
    const app = { id: '1007', name: 'Parley', link: 'https://example.com/' }
    return { data: subscribed ? [{ whatsapp_business_api_data: app }] : [] }
  })
  app.post(`${root}/subscribed_apps`, { schema }, async (request: ObjectRequest) => {
    const number = accountOf(platform, request)
    if (isObject(request.body) && request.body.override_callback_uri !== undefined) {
      await overrideCallback(number, request.body)
    }
    number.subscribed = true
    return { success: true }
  })
  app.delete(`${root}/subscribed_apps`, { schema }, (request: ObjectRequest) => {
    accountOf(platform, request).subscribed = false
    return { success: true }
  })
}

function mediaRoutes(app: App, platform: Platform): void {
  const schema = { hide: true }
  bytesRoute(app, platform)
  app.post(`${root}/media`, { schema }, (request: ObjectRequest, reply) =>
    answerUpload(platform, numberOf(platform, request), request, reply),
  )
  app.delete(root, { schema }, (request: ObjectRequest) => {
    const { id } = fileOf(platform, numberOfFile(platform, request), request.params.objectId)
    platform.files.remove(id)
    return { success: true }
  })
}

/** Returns the number that a file belongs to. If the request names a number, it must be that one. */
function numberOfFile(platform: Platform, request: ObjectRequest): BusinessNumber {
  const { objectId } = request.params
  const { phone_number_id: told } = request.query
  const number = platform.world.numbers.get(platform.files.find(objectId)?.numberId ?? '')
  const isOther = told !== undefined && told !== number?.numberId
  return authorize(platform, isOther ? undefined : number, tokenOf(request), objectId)
}

function numberOf(platform: Platform, request: ObjectRequest): BusinessNumber {
  const token = tokenOf(request)
  const { objectId } = request.params
  const number = platform.world.numbers.get(objectId)
  return authorize(platform, number, token, objectId)
}

function accountOf(platform: Platform, request: ObjectRequest): BusinessNumber {
  const token = tokenOf(request)
  const { objectId } = request.params
  const ofAccount = [...platform.world.numbers.values()].filter(({ accountId }) => accountId === objectId)
  const number = ofAccount.find(({ accessToken }) => accessToken === token) ?? ofAccount[0]
  return authorize(platform, number, token, objectId)
}

// Checks the token first: a caller without a valid one learns nothing about numbers.
function authorize(platform: Platform, number: BusinessNumber | undefined, token: string, id: string): BusinessNumber {
  const bearer = [...platform.world.numbers.values()].find(
    ({ network, accessToken }) => network === 'official' && accessToken === token,
  )
  if (bearer === undefined) {
    throw new GraphError(190, { message: 'Invalid OAuth access token - Cannot parse access token' })
  }
  if (bearer.tokenState === 'expired') throw expiredToken(platform.clock.now())
  if (number === undefined || number.accountId !== bearer.accountId) throw unknownObject(id)
  return number
}

function tokenOf(request: ObjectRequest): string {
  const [, token = request.query.access_token ?? ''] =
    /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  return token
}

const baseOf = (request: ObjectRequest, number: BusinessNumber): string =>
  `${request.protocol}://${request.host}/${request.params.version}/${number.accountId}/message_templates`

const describe = (number: BusinessNumber): Record<string, unknown> => ({
  id: number.numberId,
  display_phone_number: `+${number.phone}`,
  verified_name: number.name,
  status: number.registered ? 'CONNECTED' : 'DISCONNECTED',
  code_verification_status: 'VERIFIED',
  is_on_biz_app: true,
  platform_type: 'CLOUD_API',
  ...describeStatus(number),
})

function pick(all: Record<string, unknown>, fields = 'id,display_phone_number,verified_name,quality_rating'): object {
  const wanted = new Set(['id', ...fields.split(',')])
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted.has(name)))
}

async function overrideCallback(number: BusinessNumber, setting: Record<string, unknown>): Promise<void> {
  const { override_callback_uri: url, verify_token: verifyToken } = setting
  if (typeof url !== 'string' || !URL.canParse(url) || typeof verifyToken !== 'string') {
    throw invalidParameter('The parameters override_callback_uri and verify_token are required.')
  }
  if (!(await verifyCallback(url, verifyToken, String(randomInt(1e9))))) throw new GraphError(2200)
  number.callbackUrl = url
  number.verifyToken = verifyToken
}

/** Replies with an error in the platform's format. */
export function answerError(platform: Platform, error: unknown, reply: FastifyReply): FastifyReply {
  if (error instanceof GraphError) return reply.code(error.httpStatus).send(error.body)
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status < 500) return reply.code(400).send(invalidParameter('Invalid parameter').body)
  platform.log.error('simulator failed', {}, error)
  return reply.code(500).send(new GraphError(131000).body)
}

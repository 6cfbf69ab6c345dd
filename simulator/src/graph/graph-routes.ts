import { randomInt } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { App } from '../../../server/src/base/route.ts'
import { verifyCallback } from '../callbacks/webhook-payload.ts'
import { adLeadListRoute, describeAdLead } from '../lead-ads.ts'
import { describeStatus } from '../number-status.ts'
import type { Platform } from '../platform.ts'
import { describeSetup, listApps } from '../setup.ts'
import type { SimulatedTemplate } from '../simulated-template.ts'
import type { BusinessNumber } from '../world.ts'
import { handleMessage, messageEndpoints } from './accept-message.ts'
import {
  accountOf,
  authorize,
  bearerOf,
  checkProof,
  numberOf,
  numbersOf,
  type ObjectRequest,
  root,
  senderOf,
  tokenOf,
} from './authorize.ts'
import { answerOr } from './fault-answer.ts'
import { GraphError, invalidParameter, isObject } from './graph-error.ts'
import { answerAddress, answerUpload, bytesRoute, fileOf, noteCall } from './media-routes.ts'
import { setupRoutes } from './setup-routes.ts'
import { editTemplate, templateRoutes } from './template-routes.ts'

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

/** Registers the platform's own API, under any version. Its vendor documents it, hence it is hidden here. */
export function graphRoutes(app: App, platform: Platform): void {
  app.setErrorHandler((error, _request, reply) => answerError(platform, error, reply))
  app.addHook('preHandler', async (request) => {
    noteCall(platform, request)
    checkProof(platform, request as ObjectRequest)
  })
  const schema = { hide: true }
  for (const endpoint of messageEndpoints) {
    app.post(`${root}/${endpoint}`, { schema }, (request: ObjectRequest, reply) =>
      handleMessage(platform, senderOf(platform, request), request.body, reply, endpoint),
    )
  }
  app.get(`${root}/message_templates`, { schema }, (request: ObjectRequest, reply) => {
    const number = accountOf(platform, request)
    const { templates } = platform.world
    return answerOr(platform, reply, 'templates', () =>
      listTemplates(templates.values(), request.query, baseOf(request, number)),
    )
  })
  app.get(`${root}/phone_numbers`, { schema }, (request: ObjectRequest, reply) =>
    answerOr(platform, reply, 'setup', () => {
      const { accountId } = accountOf(platform, request)
      return { data: numbersOf(platform, accountId).map((number) => pick(describe(number), request.query.fields)) }
    }),
  )
  templateRoutes(app, platform, {
    accountOf: (request) => accountOf(platform, request as ObjectRequest),
    bearerOf: (request) => bearerOf(platform, tokenOf(request as ObjectRequest)),
  })
  subscriptionRoutes(app, platform)
  adLeadListRoute(app, platform)
  mediaRoutes(app, platform)
  app.get(root, { schema }, (request: ObjectRequest, reply) => {
    const { objectId } = request.params
    const adLead = platform.adLeads.get(objectId)
    if (adLead !== undefined) {
      bearerOf(platform, tokenOf(request))
      return describeAdLead(adLead)
    }
    if (request.query.fields === 'id,name') {
      const { accountId, name } = accountOf(platform, request)
      return { id: accountId, name: `${name} (account)` }
    }
    if (request.query.fields === 'marketing_messages_onboarding_status') {
      return { id: accountOf(platform, request).accountId, marketing_messages_onboarding_status: 'ONBOARDED' }
    }
    if (platform.files.find(objectId) !== undefined) {
      const file = fileOf(platform, numberOfFile(platform, request), objectId)
      return answerAddress(platform, file, `${request.protocol}://${request.host}`, reply)
    }
    return pick(describe(numberOf(platform, request)), request.query.fields)
  })
  app.post(root, { schema }, async (request: ObjectRequest, reply) => {
    const template = platform.world.templates.get(request.params.objectId)
    if (template !== undefined) {
      bearerOf(platform, tokenOf(request))
      return answerOr(platform, reply, 'template', () => editTemplate(platform, template, request.body))
    }
    const number = numberOf(platform, request)
    const setting = isObject(request.body) ? request.body.webhook_configuration : undefined
    if (!isObject(setting)) throw invalidParameter('The parameter webhook_configuration is required.')
    await overrideCallback(platform, [number], setting, 'phone_number')
    return { success: true }
  })
  setupRoutes(app, platform)
}

function subscriptionRoutes(app: App, platform: Platform): void {
  const schema = { hide: true }
  app.get(`${root}/subscribed_apps`, { schema }, (request: ObjectRequest, reply) =>
    answerOr(platform, reply, 'setup', () => listApps(accountOf(platform, request))),
  )
  app.post(`${root}/subscribed_apps`, { schema }, async (request: ObjectRequest) => {
    const { accountId } = accountOf(platform, request)
    const numbers = numbersOf(platform, accountId)
    if (isObject(request.body) && request.body.override_callback_uri !== undefined) {
      // The URL of a number has precedence.
      const others = numbers.filter(({ callbackLevel }) => callbackLevel !== 'phone_number')
      await overrideCallback(platform, others, request.body, 'whatsapp_business_account')
    }
    for (const number of numbers) number.subscribed = true
    platform.changed()
    return { success: true }
  })
  app.delete(`${root}/subscribed_apps`, { schema }, (request: ObjectRequest) => {
    const { accountId } = accountOf(platform, request)
    for (const number of numbersOf(platform, accountId)) number.subscribed = false
    platform.changed()
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

const baseOf = (request: ObjectRequest, number: BusinessNumber): string =>
  `${request.protocol}://${request.host}/${request.params.version}/${number.accountId}/message_templates`

const describe = (number: BusinessNumber): Record<string, unknown> => ({
  id: number.numberId,
  display_phone_number: `+${number.phone}`,
  verified_name: number.name,
  ...describeSetup(number),
  ...describeStatus(number),
})

function pick(all: Record<string, unknown>, fields = 'id,display_phone_number,verified_name,quality_rating'): object {
  const wanted = new Set(['id', ...fields.split(',')])
  return Object.fromEntries(Object.entries(all).filter(([name]) => wanted.has(name)))
}

async function overrideCallback(
  platform: Platform,
  numbers: readonly BusinessNumber[],
  setting: Record<string, unknown>,
  callbackLevel: BusinessNumber['callbackLevel'],
): Promise<void> {
  const { override_callback_uri: callbackUrl, verify_token: verifyToken } = setting
  if (typeof callbackUrl !== 'string' || !URL.canParse(callbackUrl) || typeof verifyToken !== 'string') {
    throw invalidParameter('The parameters override_callback_uri and verify_token are required.')
  }
  if (!(await verifyCallback(callbackUrl, verifyToken, String(randomInt(1e9))))) throw new GraphError(2200)
  for (const number of numbers) Object.assign(number, { callbackUrl, verifyToken, callbackLevel })
  platform.changed()
}

/** Replies with an error in the platform's format. */
export function answerError(platform: Platform, error: unknown, reply: FastifyReply): FastifyReply {
  if (error instanceof GraphError) return reply.code(error.httpStatus).send(error.body)
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  if (status < 500) return reply.code(400).send(invalidParameter('Invalid parameter').body)
  platform.log.error('simulator failed', {}, error)
  return reply.code(500).send(new GraphError(131000).body)
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../server/src/base/route.ts'
import type { Fault } from '../faults.ts'
import { healthOf } from '../number-status.ts'
import type { Platform } from '../platform.ts'
import type { SimulatedTemplate } from '../simulated-template.ts'
import type { BusinessNumber, PartnerSide } from '../world.ts'
import { handleMessage } from './accept-message.ts'
import { answerOr } from './fault-answer.ts'
import { invalidParameter, isObject } from './graph-error.ts'
import { answerError } from './graph-routes.ts'
import { answerAddress, answerUpload, fileOf, noteCall } from './media-routes.ts'

type Served = BusinessNumber & { partner: PartnerSide }

/** Registers the API of a partner of the platform, as 360dialog has it: the same messages, with a key per number. */
export function partnerRoutes(app: App, platform: Platform): void {
  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof PartnerError)) return answerError(platform, error, reply)
    return reply.code(error.statusCode).send(error.body)
  })
  app.addHook('preHandler', async (request) => noteCall(platform, request))
  const schema = { hide: true }
  app.post('/messages', { schema }, (request, reply) =>
    handleMessage(platform, numberOf(platform, request), request.body, reply),
  )
  mediaRoutes(app, platform)
  const route = (method: 'GET' | 'POST', url: string, on: Fault['on'], answer: Answer) =>
    app.route({
      method,
      url,
      schema,
      handler: (request: FastifyRequest, reply: FastifyReply) => {
        const number = numberOf(platform, request)
        return answerOr(platform, reply, on, () => answer(number, request))
      },
    })
  route('GET', '/v1/configs/phone_number', 'number', ({ phone }) => ({ phone_number: phone }))
  route('GET', '/health_status', 'number', (number) => ({ health_status: healthOf(number) }))
  route('GET', '/v1/configs/webhook', 'webhook', ({ callbackUrl, partner: { headers } }) => ({
    url: callbackUrl ?? '',
    headers,
  }))
  route('POST', '/v1/configs/webhook', 'webhook', register)
  route('GET', '/v1/configs/templates', 'templates', (_number, { query }) =>
    listTemplates([...platform.world.templates.values()], query as Record<string, string>),
  )
}

type FileRequest = FastifyRequest<{ Params: { fileId: string } }>

// The partner passes the platform's answer on: the address names the platform's own file store, and the holder of the
// partner's key downloads from the partner's host.
const platformsStore = 'https://lookaside.fbsbx.com'

function mediaRoutes(app: App, platform: Platform): void {
  const schema = { hide: true }
  const one = '/:fileId(^\\d{10,20}$)'
  app.post('/media', { schema }, (request, reply) =>
    answerUpload(platform, numberOf(platform, request), request, reply),
  )
  app.get(one, { schema }, (request: FileRequest, reply) => {
    const file = fileOf(platform, numberOf(platform, request), request.params.fileId)
    return answerAddress(platform, file, platformsStore, reply)
  })
  app.delete(one, { schema }, (request: FileRequest) => {
    const file = fileOf(platform, numberOf(platform, request), request.params.fileId)
    platform.files.remove(file.id)
    return { success: true }
  })
}

type Answer = (number: Served, request: FastifyRequest) => object

function numberOf({ world }: Platform, { headers }: FastifyRequest): Served {
  const key = headers['d360-api-key']
  const number = [...world.numbers.values()].find(({ partner }) => partner !== null && partner.apiKey === key)
  if (number === undefined || !['valid', 'temporary'].includes(number.tokenState))
    throw new PartnerError(401, 'Invalid api_key')
  return number as Served
}

function register(number: Served, { body }: FastifyRequest): object {
  const { url, headers = {} } = isObject(body) ? body : {}
  if (typeof url !== 'string' || !URL.canParse(url)) throw new PartnerError(400, 'url must be an address')
  if (!isObject(headers) || !Object.values(headers).every((value) => typeof value === 'string')) {
    throw new PartnerError(400, 'headers must be texts by their names')
  }
  number.callbackUrl = url
  number.partner.headers = headers as Record<string, string>
  return { url, headers }
}

const maxLimit = 1000

function listTemplates(all: readonly SimulatedTemplate[], query: Record<string, string>): object {
  const [limit, offset] = [Number(query.limit ?? maxLimit), Number(query.offset ?? 0)]
  if (!(limit >= 1 && limit <= maxLimit && offset >= 0)) throw invalidParameter('Param limit is not valid.')
  const page = all.slice(offset, offset + limit)
  const counts = { count: page.length, total: all.length, limit, offset }
  return { ...counts, sort: ['id'], filters: {}, waba_templates: page.map(toPartnerTemplate) }
}

// Leaves out the format of parameter names: the partner shows it only in the template body.
function toPartnerTemplate({ id, status, parameter_format: _, ...template }: SimulatedTemplate): object {
  const word = status === 'PENDING' ? 'submitted' : status.toLowerCase()
  return { ...template, id: `${id}WT`, external_id: id, namespace: 'simulated', status: word }
}

/** Error of the partner itself: raised before the platform is called, and without a code. */
class PartnerError extends Error {
  readonly statusCode: number
  readonly body: object

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
    this.body = { meta: { success: false, http_code: statusCode, developer_message: message } }
  }
}

import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Platform } from '../platform.ts'
import { grantedTo } from '../setup.ts'
import type { BusinessNumber } from '../world.ts'
import { expiredToken, GraphError, revokedToken, unknownObject } from './graph-error.ts'

export type ObjectRequest = FastifyRequest<{
  Params: { version: string; objectId: string }
  Querystring: Record<string, string>
}>

export const root = '/:version(^v\\d{1,2}\\.\\d$)/:objectId'

/** Returns the number that the path names. */
export function numberOf(platform: Platform, request: ObjectRequest): BusinessNumber {
  const { objectId } = request.params
  return authorize(platform, platform.world.numbers.get(objectId), tokenOf(request), objectId)
}

/** Returns the number that sends, if its token may. */
export function senderOf(platform: Platform, request: ObjectRequest): BusinessNumber {
  const number = numberOf(platform, request)
  if (!grantedTo(number).includes('whatsapp_business_messaging')) throw new GraphError(10)
  return number
}

/** Returns a number of the account that the path names. */
export function accountOf(platform: Platform, request: ObjectRequest): BusinessNumber {
  const token = tokenOf(request)
  const { objectId } = request.params
  const ofAccount = numbersOf(platform, objectId)
  const number = ofAccount.find(({ accessToken }) => accessToken === token) ?? ofAccount[0]
  const allowed = authorize(platform, number, token, objectId)
  if (!grantedTo(allowed).includes('whatsapp_business_management')) throw new GraphError(200)
  return allowed
}

const ofToken = ({ world }: Platform, token: string): BusinessNumber[] =>
  [...world.numbers.values()].filter(({ network, accessToken }) => network === 'official' && accessToken === token)

/** Returns the accounts that a number's token can access. */
export const accountsOf = (platform: Platform, { accessToken }: BusinessNumber): string[] => [
  ...new Set(ofToken(platform, accessToken).map(({ accountId }) => accountId)),
]

/** Returns a number of the token. Throws 190 if the token is not valid. */
export function bearerOf(platform: Platform, token: string): BusinessNumber {
  const [bearer] = ofToken(platform, token)
  if (bearer === undefined) {
    throw new GraphError(190, { message: 'Invalid OAuth access token - Cannot parse access token' })
  }
  if (bearer.tokenState === 'expired') throw expiredToken(platform.clock.now())
  if (bearer.tokenState === 'revoked') throw revokedToken()
  return bearer
}

// Checks the token first: a caller without a valid one learns nothing about numbers.
export function authorize(
  platform: Platform,
  number: BusinessNumber | undefined,
  token: string,
  id: string,
): BusinessNumber {
  const bearer = bearerOf(platform, token)
  if (number === undefined || !accountsOf(platform, bearer).includes(number.accountId)) throw unknownObject(id)
  return number
}

export function tokenOf(request: ObjectRequest): string {
  const [, token = request.query.access_token ?? ''] =
    /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  return token
}

/** Returns the numbers of an account. */
export const numbersOf = ({ world }: Platform, accountId: string): BusinessNumber[] =>
  [...world.numbers.values()].filter((number) => number.accountId === accountId && number.network === 'official')

/** A call may prove that it knows the app secret; a wrong proof is refused whatever the call is. */
export function checkProof(platform: Platform, request: ObjectRequest): void {
  const { appsecret_proof: proof } = request.query
  if (proof === undefined) return
  const token = tokenOf(request)
  const { appSecret } = bearerOf(platform, token)
  if (proof === createHmac('sha256', appSecret).update(token).digest('hex')) return
  throw new GraphError(100, {
    type: 'GraphMethodException',
    message: 'Invalid appsecret_proof provided in the API argument',
  })
}

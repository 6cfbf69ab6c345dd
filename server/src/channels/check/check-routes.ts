import { Type } from 'typebox'
import { ApiError } from '../../base/errors.ts'
import { errorResponse, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import type { Channel } from '../connection/connection.ts'
import { platformId } from '../connection/fields.ts'
import { type PresentDeps, presentConnection } from '../connection/present.ts'
import { connectionSchema } from '../connection/schema.ts'
import {
  type CheckDeps,
  type CheckedConnection,
  checkConnection,
  listNumbers,
  performStep,
  type SetupStep,
} from './check-connection.ts'
import { readCheck } from './check-store.ts'
import { type CheckReport, checkCodes, checkStatuses, checkSteps } from './report.ts'
import { describeLine } from './texts.ts'

const reportSchema = titled('ConnectionCheck', {
  checkedAt: timestamp('When the platform was asked.'),
  steps: Type.Array(
    titled('ConnectionCheckStep', {
      step: oneOf(checkSteps, { description: 'What was checked.' }),
      status: oneOf(checkStatuses, {
        description: '`failed`: prevents sending or receiving. `skipped`: does not apply, or an earlier step failed.',
      }),
      code: oneOf(checkCodes, { description: 'What was found.', example: 'token_expired' }),
      values: Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: { type: 'string', maxLength: 200 },
        description: 'Details of the code, such as `until`, `phone` or `code`: the error code of the platform.',
      }),
      found: text(1000, 'What was found, in English.'),
      advice: nullable(text(1000, 'What to do, in English; null if nothing.')),
    }),
    { maxItems: checkSteps.length, description: 'Only the steps that the channel has.' },
  ),
})

const checked = titled('CheckedConnection', { connection: connectionSchema, check: reportSchema })

const accountSchema = titled('ConnectionAccount', {
  id: text(64, "The platform's business account id."),
  name: text(200, 'Its name.'),
  numbers: Type.Array(
    Type.Object({
      id: text(64, "The platform's phone number id."),
      phone: text(40, 'The number, as the platform writes it.'),
      name: text(200, 'The display name.'),
      isOnPhone: Type.Boolean({ description: "It stays on the phone's app." }),
      isConnected: Type.Boolean({ description: 'Another connection of this workspace has it.' }),
    }),
    { maxItems: 100 },
  ),
})

const refusedList = errorResponse(
  'NumbersNotListed',
  502,
  "The platform returned an error or did not respond. `data.code` is the platform's error code, or a code of Parley.",
  'The platform did not return its numbers',
  { code: '190' },
)

const params = Type.Object({ ...workspaceParams, connectionId: idSchema('The connection.') })

/** Registers the check of a connection and the steps of connecting. All call the platform, so only admins can. */
export function checkRoutes(api: TeamApi, onePath: string, deps: CheckDeps & PresentDeps): void {
  api.get(`${onePath}/check`, 'admin', {
    operationId: 'getConnectionCheck',
    summary: 'Read the last check of a connection',
    description:
      'Admins only. Null if it was never checked, or its access was changed since. Does not ask the platform.',
    params,
    answers: { 200: Type.Object({ check: Type.Union([reportSchema, Type.Null()]) }) },
    run: async ({ member, params: { connectionId: id } }) => {
      const { workspaceId } = member
      const { report, channel } = await readCheck(deps.db.sql, { workspaceId, id })
      return { check: report === null ? null : presentReport(report, channel) }
    },
  })
  api.post(`${onePath}/check`, 'admin', {
    operationId: 'checkConnection',
    summary: 'Check a connection',
    description:
      'Admins only. Asks the platform about each step of connecting, and says what to do. Changes nothing at the platform. A connection in setup becomes `active` once every step works. At most 5 times in 10 seconds, together with the steps of connecting.',
    params,
    answers: { 200: checked },
    errors: [429],
    run: async ({ member, params: { connectionId } }) =>
      present(deps, await checkConnection(deps, member, connectionId)),
  })
  api.get(`${onePath}/numbers`, 'admin', {
    operationId: 'listConnectionNumbers',
    summary: 'List the numbers of a token',
    description:
      "Admins only. Asks the platform for the numbers that the connection's token can access, by business account. If the platform does not say which accounts those are, name one. For `waba`.",
    params,
    query: Type.Object(
      { accountId: Type.Optional(platformId('Only this business account.', '102290129340398')) },
      closed,
    ),
    answers: { 200: Type.Object({ accounts: Type.Array(accountSchema, { maxItems: 10 }) }), 502: refusedList },
    errors: [409, 429],
    run: async ({ member, params: { connectionId }, query }) => {
      const listed = await listNumbers(deps, member, connectionId, query.accountId ?? null)
      if (!listed.ok) {
        throw new ApiError(502, 'The platform did not return its numbers', { data: { code: listed.errorCode } })
      }
      const { accounts, connected } = listed
      return {
        accounts: accounts.map((account) => ({
          ...account,
          numbers: account.numbers.map((number) => ({ ...number, isConnected: connected.has(number.id) })),
        })),
      }
    },
  })
  stepRoutes(api, onePath, deps)
}

const pinBody = Type.Object(
  {
    pin: Type.String({
      pattern: '^\\d{6}$',
      maxLength: 6,
      description:
        'Six digits: the PIN of two-step verification, or a new one if the number has none. Only passed on to the platform: never stored.',
    }),
  },
  closed,
)

function stepRoutes(api: TeamApi, onePath: string, deps: CheckDeps & PresentDeps): void {
  const shared = { params, answers: { 200: checked }, errors: [409, 429] } as const
  const perform = async (by: Member, id: string, step: SetupStep) =>
    present(deps, await performStep(deps, by, id, step))
  api.post(`${onePath}/subscribe`, 'admin', {
    operationId: 'subscribeConnection',
    summary: 'Have messages sent to Parley',
    description:
      "Admins only. Subscribes the app to the number's account and sets the connection's callback URL: for the account if it has no other number, else for the number. Then checks the connection; a step that fails is in `check`. For `waba`; a `partner` connection registers its URL when it is resumed.",
    ...shared,
    run: ({ member, params: { connectionId } }) => perform(member, connectionId, { kind: 'subscribe' }),
  })
  api.post(`${onePath}/register`, 'admin', {
    operationId: 'registerConnectionNumber',
    summary: 'Register the number',
    description:
      "Admins only. Registers the number at the platform, then checks the connection; a wrong PIN is in `check`. Does nothing for a number that is registered or stays on the phone's app. For `waba`.",
    ...shared,
    body: pinBody,
    run: ({ member, params: { connectionId }, body }) =>
      perform(member, connectionId, { kind: 'register', pin: body.pin }),
  })
  api.post(`${onePath}/history`, 'admin', {
    operationId: 'requestConnectionHistory',
    summary: 'Request contacts and history',
    description:
      "Admins only. For a `waba` number that stays on the phone's app, within 24 hours of connecting it to the platform; each is accepted once. Then checks the connection.",
    ...shared,
    run: ({ member, params: { connectionId } }) => perform(member, connectionId, { kind: 'history' }),
  })
}

const present = (deps: CheckDeps & PresentDeps, { connection, report }: CheckedConnection) => ({
  connection: presentConnection(deps, connection),
  check: presentReport(report, connection.channel),
})

const presentReport = ({ checkedAt, lines }: CheckReport, channel: Channel) => ({
  checkedAt,
  steps: lines.map((line) => ({ ...line, ...describeLine(line, channel) })),
})

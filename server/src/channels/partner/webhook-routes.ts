import { Type } from 'typebox'
import { unauthorized } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { bytesOf, callbackParams, callbackRoute, callbackScope, calledConnections } from '../callback-routes.ts'
import type { CallbackDeps } from '../store-callback.ts'
import { isFromPartner, readProof } from './authenticate.ts'
import { takePartnerCallback } from './take-callback.ts'

/** What partners of the official platform call. */
export function partnerWebhookRoutes(app: App, deps: CallbackDeps): void {
  callbackScope(app, (scope) => callback(scope, deps))
}

function callback(scope: App, deps: CallbackDeps): void {
  scope.post(
    '/channels/partner/:connectionId/webhook',
    {
      // Before the body is read: nobody makes us hold 3 MB without so much as a proof.
      onRequest: async (request) => {
        if (readProof(request.headers) === null) throw unproved()
      },
      schema: {
        ...callbackRoute,
        operationId: 'receivePartnerCallback',
        summary: 'Take a callback of a partner',
        description:
          'Shows the header that was named when the address was registered, or is signed over the raw bytes where the connection has a signing secret. 200 means that everything in it is stored.',
        params: callbackParams,
        response: {
          200: Type.Object({ success: Type.Boolean() }, { description: 'Stored, or nothing in it to store.' }),
          ...errors(400, 401, 404, 413, 503),
        },
      },
    },
    async (request) => {
      const { called } = await calledConnections(deps, request, 'partner')
      const body = bytesOf(request)
      const proof = readProof(request.headers)
      if (proof === null || !isFromPartner(called.settings, proof, body)) {
        deps.log.warn('callback refused: proof', { workspaceId: called.workspaceId, connectionId: called.id })
        throw unproved()
      }
      await takePartnerCallback(deps, called, body)
      return { success: true }
    },
  )
}

const unproved = () => unauthorized('The header or signature is missing or not the one of this connection')

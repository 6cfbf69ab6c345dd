import type { FastifyRequest } from 'fastify'
import { forbidden, unauthorized } from '../../base/errors.ts'
import { sameSecret } from '../../base/sealing/secret-token.ts'
import { type CredentialDeps, identify, tokenIn } from './team-credential.ts'

/**
 * Who may read the installation's figures: a collector with the token that is for this alone, or an operator by a team
 * token. They tell how much business there is, so nobody else.
 */
export function createMetricsDoor(
  deps: CredentialDeps & { metricsToken: string | null },
): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const { authorization } = request.headers
    // No session will do: the worker's server knows no cookies.
    if (authorization === undefined) throw unauthorized('Send the metrics token, or the team token of an operator')
    if (deps.metricsToken !== null && sameSecret(tokenIn(authorization), deps.metricsToken)) return
    const { caller } = await identify(deps, request)
    if (!caller.isOperator) throw forbidden('Only an operator of this installation may do this')
  }
}

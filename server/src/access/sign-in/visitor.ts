import type { FastifyRequest } from 'fastify'
import type { TeamDeps, Visitor } from '../team/team-deps.ts'
import { deviceOf } from './device.ts'
import { deviceCookie } from './device-cookie.ts'
import { sessionCookie } from './session-cookie.ts'

export function visitorOf(deps: TeamDeps, request: FastifyRequest): Visitor {
  return {
    address: deps.addressOf(request.raw),
    device: deviceOf(request.headers['user-agent']),
    sessionToken: sessionCookie(deps.publicUrl).read(request),
    deviceToken: deviceCookie(deps.publicUrl).read(request),
  }
}

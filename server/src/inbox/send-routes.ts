import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../access/caller.ts'
import { conflict, notFound, unavailable, unprocessable } from '../base/errors.ts'
import { type Member, memberOf, type TeamGuard } from '../base/member.ts'
import { type App, errors, postman } from '../base/route.ts'
import { workspaceParams } from '../base/team-schema.ts'
import { compileForRequest } from '../base/validation.ts'
import { sendMessage } from './send.ts'
import type { SendDeps, Sender } from './send-deps.ts'
import { Send, SendHeaders, Sent } from './send-schema.ts'

export interface SendGuard {
  inbox(scope: 'inbox.write'): onRequestHookHandler
}

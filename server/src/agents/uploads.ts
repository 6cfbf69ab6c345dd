import { ApiError } from '../base/errors.ts'
import { removeUpload, takeUpload, type UploadDeps } from '../inbox/media/uploads.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import { filePlaces, takingPlaces } from '../inbox/team-api/files/file-places.ts'
import { findFor } from './shown/find-for.ts'
import { refusalToAnswer } from './shown/refusal-to-answer.ts'
import { actorOf, scopeOf } from './shown/sight.ts'
import type { AgentUploads } from './verb.ts'

/** How agents bring files: a few at a time, for conversations of their own. */
export function agentUploads(inbox: SendDeps, deps: UploadDeps): AgentUploads {
  const place = filePlaces(takingPlaces)
  return {
    take: async (caller, upload) => {
      const conversation = await findFor({ inbox }, caller, upload.conversationId)
      const { owner } = conversation
      if (owner.type !== 'agent' || owner.keyId !== caller.keyId) throw refusalToAnswer(conversation)
      const actor = actorOf(caller)
      const reader = { workspaceId: caller.workspaceId, actor }
      return place(reader, () => takeUpload(deps, scopeOf(caller), actor, upload))
    },
    drop: (caller, conversationId, id) =>
      removeUpload(deps, caller.workspaceId, actorOf(caller), conversationId, id).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error
      }),
  }
}

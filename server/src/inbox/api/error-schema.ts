import { errorAnswer, errors } from '../../base/route.ts'

const refusal = (title: string, statusCode: number, code: string, statusMessage: string, description: string) =>
  errorAnswer(title, statusCode, description, statusMessage, { code })

/** The errors of every route of the inbox interface; callers branch on `data.code`. */
export const inboxErrors = {
  ...errors(401, 403, 429, 500, 503),
  400: refusal(
    'InboxBadRequest',
    400,
    'INVALID_REQUEST',
    'status must be one of open, pending, snoozed, resolved, closed',
    '`INVALID_QUERY`: a query parameter does not fit. `INVALID_REQUEST`: the body does not. `data.issues` names each field.',
  ),
}

export const conversationErrors = {
  ...inboxErrors,
  404: refusal(
    'ConversationNotFound',
    404,
    'NOT_FOUND',
    'Conversation not found',
    'Nothing there that this key may see: `NOT_FOUND`.',
  ),
}

export const changeErrors = {
  ...conversationErrors,
  ...errors(413, 415),
  403: refusal(
    'OwnerForbidden',
    403,
    'OWNER_FORBIDDEN',
    'A key can give a conversation to people or take it itself, not give it to another agent',
    "`OWNER_FORBIDDEN`: the owner is another agent, or agents are stopped. Without a code: the workspace's plan does not include the inbox.",
  ),
  409: refusal(
    'OwnerMismatch',
    409,
    'OWNER_MISMATCH',
    'This key is not active, lacks inbox.write or does not allow the connection',
    '`OWNER_MISMATCH`: the key stopped while the request was on its way. Or people have the conversation, in a workspace where agents take back only what is handed to them: `data.since` says since when.',
  ),
}

export const echoErrors = {
  ...inboxErrors,
  ...errors(413, 415),
  404: refusal(
    'EchoConnectionNotFound',
    404,
    'NOT_FOUND',
    'Chat connection not found',
    'Not an official connection that this key sees: `NOT_FOUND`.',
  ),
}

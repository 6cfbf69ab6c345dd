import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { uuid, visible } from '../../base/schema-types.ts'
import { findUploadDigest } from '../../inbox/media/sent-media.ts'
import { ChoicesSend, TemplateSend } from '../../inbox/send/send-schema.ts'
import type { AgentCaller, AgentDeps } from '../verb.ts'

const closed = { additionalProperties: false }

/** What an answer says: one of four, and what it quotes. */
export const contentFields = {
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 16_384,
      pattern: visible,
      description: 'Sent as it stands. Either this, `file`, `choices` or `template`.',
    }),
  ),
  file: Type.Optional(
    Type.Object(
      {
        upload_id: uuid('From upload_file, for this conversation.'),
        caption: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1024,
            pattern: visible,
            description: 'Below an image, a video or a document.',
            example: 'Your invoice for May.',
          }),
        ),
      },
      { ...closed, title: 'FileAnswer' },
    ),
  ),
  choices: Type.Optional(ChoicesSend.properties.choices),
  template: Type.Optional(
    Type.Object(
      {
        ...TemplateSend.properties.template.properties,
        header_upload_id: Type.Optional(uuid('From upload_file: for a template with a `header`, of that kind.')),
      },
      { ...closed, title: 'TemplateAnswer' },
    ),
  ),
  quoted_message_id: Type.Optional(uuid('The message that this answers: shown above it.')),
}

const Content = Type.Object(contentFields)

/** What an answer says, as it is sent. */
export interface Content {
  body: object
  /** It needs more words than the contract's send has. */
  isWhole: boolean
  uploadId: string | null
  /** What makes it the same as another one: a file counts by what it is, not by the upload that brought it. */
  identity: object
}

/** Throws 400 unless it is one thing that is said. */
export async function contentOf(
  { inbox }: AgentDeps,
  { workspaceId }: AgentCaller,
  conversationId: string,
  asked: Static<typeof Content>,
): Promise<Content> {
  const { text, file, choices, template, quoted_message_id: quoted } = asked
  if ([text, file, choices, template].filter((one) => one !== undefined).length !== 1) {
    throw invalid('text', 'or one of file, choices and template is required: send one of these four')
  }
  const uploadId = (file?.upload_id ?? template?.header_upload_id)?.toLowerCase() ?? null
  const body = bodyOf(asked, uploadId)
  const isWhole = quoted !== undefined || choices !== undefined || uploadId !== null
  const digest = uploadId === null ? null : await findUploadDigest(inbox, workspaceId, conversationId, uploadId)
  return { body, isWhole, uploadId, identity: digest === null ? body : bodyOf(asked, digest) }
}

function bodyOf(asked: Static<typeof Content>, file: string | null): object {
  const { quoted_message_id: quoted } = asked
  return { ...saidOf(asked, file), ...(quoted !== undefined && { quoted_message_id: quoted }) }
}

function saidOf({ text, file, choices, template }: Static<typeof Content>, upload: string | null): object {
  if (text !== undefined) return { kind: 'text', text }
  if (choices !== undefined) return { kind: 'choices', choices }
  const { caption } = file ?? {}
  if (file !== undefined) return { kind: 'media', upload_id: upload, ...(caption !== undefined && { text: caption }) }
  return { kind: 'template', template: { ...template, ...(upload !== null && { header_upload_id: upload }) } }
}

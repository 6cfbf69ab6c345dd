import type { Connection } from '../connection/connection.ts'
import type { FileToUpload } from '../media-transport.ts'
import type { JsonObject } from '../waba/json.ts'

/** Creates and changes the templates of a channel's platform. No method throws. */
export interface TemplateManager<C extends Connection = Connection> {
  /** Reads one template with its sample values, as the platform lists it; null if there is none. */
  find(
    connection: C,
    name: string,
    language: string,
  ): Promise<{ ok: true; template: JsonObject | null } | TemplateCallFailure>
  create(connection: C, template: TemplateToCreate): Promise<CreatedTemplate | TemplateCallFailure>
  /** Replaces the components; `category` is null if it stays. */
  edit(
    connection: C,
    externalId: string,
    change: { category: string | null; components: JsonObject[] },
  ): Promise<{ ok: true } | TemplateCallFailure>
  /** Deletes one language of a template. */
  remove(connection: C, one: { name: string; externalId: string }): Promise<{ ok: true } | TemplateCallFailure>
  /** Uploads a sample file for the review of a header, and returns its handle. */
  uploadSample(
    connection: C,
    file: Pick<FileToUpload, 'name' | 'mimeType' | 'size' | 'bytes'>,
    signal: AbortSignal,
  ): Promise<{ ok: true; handle: string } | TemplateCallFailure>
}

interface TemplateToCreate {
  name: string
  language: string
  category: string
  format: 'POSITIONAL' | 'NAMED'
  components: JsonObject[]
}

export interface CreatedTemplate {
  ok: true
  externalId: string
  status: string
  category: string
}

/**
 * `refused`: the platform answered that it did nothing. `failed`: nothing was done. `unknown`: it may have been done.
 * `no_account`: the connection has no account id, so nothing was asked.
 */
export interface TemplateCallFailure {
  ok: false
  outcome: 'refused' | 'failed' | 'unknown' | 'no_account'
  errorCode: string
  /** The platform's explanation, cleaned. */
  message: string | null
}

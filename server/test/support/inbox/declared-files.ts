import type { MediaInfo } from '../../../src/channels/channel-event.ts'

const unknown = { size: null, sha256: null, name: null, width: null, height: null, seconds: null, waveform: null }

/** Metadata of a picture as a platform sends it. */
export const declaredPicture: MediaInfo = {
  ...{ kind: 'image', source: { by: 'id', id: '5551' }, mimeType: 'image/jpeg' },
  ...{ ...unknown, thumbnail: null, isAnimated: false },
}

import type { Media } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useThreadContext } from '../parts/thread-context.ts'
import { AudioMessage } from './AudioMessage.tsx'
import { FileCard } from './FileCard.tsx'
import { MediaUnavailable } from './MediaUnavailable.tsx'
import { mediaViewOf } from './media-rules.ts'
import { Picture } from './Picture.tsx'
import { canPlay } from './player.ts'

interface MediaPartProps {
  messageId: string
  direction: 'inbound' | 'outbound'
  media: Media
}

export default function MediaPart({ messageId, direction, media }: MediaPartProps) {
  const workspaceId = useWorkspaceId()
  const { conversationId, customerName, openFile } = useThreadContext()
  const { id: mediaId, kind, state, seconds } = media
  if (state !== 'here') return <MediaUnavailable conversationId={conversationId} media={{ ...media, state }} />
  const what = t.media.kinds[kind]
  const title = direction === 'inbound' ? t.media.from({ what, who: customerName }) : t.media.fromUs({ what })
  const open = () => openFile(messageId)
  const view = mediaViewOf(media, canPlay)
  if (view === 'file') return <FileCard media={media} open={open} />
  if (view === 'sound') {
    return <AudioMessage media={media} track={{ workspaceId, conversationId, messageId, mediaId, title, seconds }} />
  }
  return <Picture media={media} label={title} open={open} />
}

import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { type ApiKey, useApiKeys, useKeysChanged } from '../data/keys.ts'
import { mayIn } from '../session/session.ts'
import { t } from '../text/index.ts'
import { useKeys } from '../ui/keys.ts'
import { Empty } from '../ui/page/Empty.tsx'
import { Loaded, PageBody } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useMaking } from '../ui/use-making.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { KeyPanel } from './KeyPanel.tsx'
import { KeyTable } from './KeyTable.tsx'
import { KeyValue } from './KeyValue.tsx'
import { NewKeyPanel } from './NewKeyPanel.tsx'

/** What programs and agents come in with. */
export function KeysPage() {
  const workspaceId = useWorkspaceId()
  const query = useApiKeys(workspaceId)
  const changed = useKeysChanged(workspaceId)
  const [isMaking, setMaking] = useMaking()
  const [openId, setOpenId] = useState<string | null>(null)
  const [made, setMade] = useState<{ key: ApiKey; value: string } | null>(null)
  const mayChange = mayIn(workspaceId, 'admin')
  const open = query.data?.find(({ id }) => id === openId)
  useKeys(
    t.keys.title,
    useMemo(
      () => (mayChange ? [{ keys: 'c', label: t.keys.make, run: () => setMaking(true) }] : []),
      [mayChange, setMaking],
    ),
  )

  const make = () => setMaking(true)
  const show = (answer: { key: ApiKey; value: string }) => {
    setMaking(false)
    setOpenId(null)
    setMade(answer)
    void changed()
  }

  return (
    <>
      <PageHeader
        title={t.keys.title}
        action={
          mayChange && (
            <Button leftSection={<IconPlus size={16} />} onClick={make}>
              {t.keys.make}
            </Button>
          )
        }
      />
      <PageBody>
        <Loaded query={query}>
          {(keys) =>
            keys.length === 0 ? (
              <Empty title={t.keys.empty} {...(mayChange && { action: { label: t.keys.make, run: make } })} />
            ) : (
              <KeyTable keys={keys} open={({ id }) => setOpenId(id)} />
            )
          }
        </Loaded>
      </PageBody>
      {isMaking && <NewKeyPanel close={() => setMaking(false)} made={show} />}
      {open !== undefined && (
        <KeyPanel
          apiKey={open}
          mayChange={mayChange}
          close={() => setOpenId(null)}
          rotated={show}
          revoked={() => {
            setOpenId(null)
            void changed()
          }}
        />
      )}
      {made !== null && (
        <KeyValue name={made.key.name} value={made.value} scopes={made.key.scopes} close={() => setMade(null)} />
      )}
    </>
  )
}

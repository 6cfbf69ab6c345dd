import { Menu, Tooltip, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { IconCommand, IconKeyboard, IconLogout, IconSelector, IconUser } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { chooseLanguage, type Language, language, languages, t } from '../text/index.ts'
import { Avatar } from '../ui/Avatar.tsx'
import { complain } from '../ui/notices.tsx'
import { type Badge, useRailBadge } from '../ui/rail-badges.ts'
import styles from './Rail.module.css'
import { type Room, rooms } from './rooms.ts'
import { mayIn, signOut, useSession } from './session.ts'

interface RailProps {
  workspaceId: string
  openPalette(): void
  openKeys(): void
}

export function Rail({ workspaceId, openPalette, openKeys }: RailProps) {
  const open = rooms.filter(({ role }) => mayIn(workspaceId, role))
  const links = (place: Room['place']) =>
    open.filter((room) => room.place === place).map((room) => <RailLink key={room.path} room={room} />)
  return (
    <nav className={styles.rail} aria-label={t.common.mainNavigation}>
      <div className={styles.group}>{links('day')}</div>
      <div className={styles.group} data-last>
        <Tooltip label={`${t.common.palette.label} (Ctrl K)`} position="right">
          <UnstyledButton className={styles.link} onClick={openPalette} aria-label={t.common.palette.label}>
            <IconCommand size={20} stroke={1.6} />
          </UnstyledButton>
        </Tooltip>
        {links('setup')}
        <MeMenu workspaceId={workspaceId} openKeys={openKeys} />
      </div>
    </nav>
  )
}

function RailLink({ room: { path, title, icon: Icon } }: { room: Room }) {
  const badge = useRailBadge(path)
  const label = title()
  return (
    <Tooltip label={label} position="right">
      <Link
        to={`/w/$workspaceId/${path}` as '/w/$workspaceId/home'}
        params={(before) => before as { workspaceId: string }}
        className={styles.link}
        activeProps={{ 'data-active': true } as object}
        activeOptions={{ exact: false, includeSearch: false }}
        aria-label={badge === null ? label : `${label}: ${badge.label}`}
      >
        <Icon size={20} stroke={1.6} />
        <span className={styles.name}>{label}</span>
        {badge !== null && <Dot badge={badge} />}
      </Link>
    </Tooltip>
  )
}

function Dot({ badge }: { badge: Badge }) {
  return (
    <span className={styles.dot} data-tone={badge.tone} aria-hidden="true">
      {badge.count > 99 ? '99+' : badge.count}
    </span>
  )
}

function MeMenu({ workspaceId, openKeys }: { workspaceId: string; openKeys(): void }) {
  const { user, workspaces } = useSession()
  const { name = '', email = '' } = user ?? {}
  const navigate = useNavigate()
  return (
    <Menu position="right-end" width={240}>
      <Menu.Target>
        <UnstyledButton className={styles.link} aria-label={`${t.common.me}: ${name}`}>
          <Avatar name={name} size={28} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.who}>
          <strong>{name}</strong>
          <span>{email}</span>
        </div>
        {workspaces.length > 1 && (
          <>
            <Menu.Divider />
            <Menu.Label>{t.common.switchWorkspace}</Menu.Label>
            {workspaces.map((one) => (
              <Menu.Item
                key={one.id}
                leftSection={<IconSelector size={16} />}
                disabled={one.id === workspaceId}
                onClick={() => void navigate({ to: '/w/$workspaceId/home', params: { workspaceId: one.id } })}
              >
                {one.name}
              </Menu.Item>
            ))}
          </>
        )}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconUser size={16} />}
          onClick={() => void navigate({ to: '/w/$workspaceId/profile', params: { workspaceId } })}
        >
          {t.common.pages.profile}
        </Menu.Item>
        <Menu.Divider />
        <AppearanceItems />
        <Menu.Divider />
        <Menu.Label>{t.common.language}</Menu.Label>
        {(Object.keys(languages) as Language[]).map((one) => (
          <Menu.Item key={one} disabled={one === language} onClick={() => chooseLanguage(one)}>
            {languages[one]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconKeyboard size={16} />} rightSection={<kbd>?</kbd>} onClick={openKeys}>
          {t.common.keys.open}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut().catch(complain)}>
          {t.common.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function AppearanceItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <Menu.Label>{t.common.appearance}</Menu.Label>
      {(['light', 'dark', 'auto'] as const).map((one) => (
        <Menu.Item key={one} disabled={one === colorScheme} onClick={() => setColorScheme(one)}>
          {t.common.appearances[one]}
        </Menu.Item>
      ))}
    </>
  )
}

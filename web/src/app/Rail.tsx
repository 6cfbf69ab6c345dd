import { Menu, Tooltip, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import {
  IconCheck,
  IconCommand,
  IconKeyboard,
  IconLogout,
  IconSearch,
  IconSelector,
  IconUser,
} from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { chooseLanguage, type Language, language, languages, t } from '../text/index.ts'
import { Avatar } from '../ui/Avatar.tsx'
import { type Badge, useRailBadge, useRailCount } from '../ui/rail-badges.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import styles from './Rail.module.css'
import { type Room, rooms } from './rooms.ts'
import { mayIn, signOut, useSession } from './session.ts'

interface RailProps {
  workspaceId: string
  openPalette(): void
  openKeys(): void
}

/** Down the side; on a phone along the lower edge, where the rooms that set things up are behind one's own face. */
export function Rail({ workspaceId, openPalette, openKeys }: RailProps) {
  const isPhone = useIsPhone()
  const PaletteIcon = isPhone ? IconSearch : IconCommand
  const open = rooms.filter(({ role }) => mayIn(workspaceId, role))
  const setup = open.filter(({ place }) => place === 'setup')
  const links = (of: readonly Room[]) => of.map((room) => <RailLink key={room.path} room={room} />)
  return (
    <nav className={styles.rail} aria-label={t.common.mainNavigation}>
      <div className={styles.group}>{links(open.filter(({ place }) => place === 'day'))}</div>
      <div className={styles.group} data-last>
        <Tooltip label={`${t.common.palette.label} (Ctrl K)`} position="right">
          <UnstyledButton className={styles.link} onClick={openPalette} aria-label={t.common.palette.label}>
            <PaletteIcon size={20} stroke={1.6} />
          </UnstyledButton>
        </Tooltip>
        {!isPhone && links(setup)}
        <MeMenu workspaceId={workspaceId} setup={isPhone ? setup : none} openKeys={openKeys} />
      </div>
    </nav>
  )
}

const none: readonly Room[] = []

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

interface MeMenuProps {
  workspaceId: string
  /** The rooms that have no place of their own at the rail. */
  setup: readonly Room[]
  openKeys(): void
}

function MeMenu({ workspaceId, setup, openKeys }: MeMenuProps) {
  const { user, workspaces } = useSession()
  const trouble = useRailCount(setup.map(({ path }) => path))
  const { name = '', email = '' } = user ?? {}
  const navigate = useNavigate()
  return (
    <Menu position={setup.length > 0 ? 'top-end' : 'right-end'} width={setup.length > 0 ? 280 : 240}>
      <Menu.Target>
        <UnstyledButton className={styles.link} aria-label={`${t.common.me}: ${name}`}>
          <Avatar name={name} size={28} />
          {trouble > 0 && <Dot badge={{ count: trouble, tone: 'bad', label: '' }} />}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown className={styles.menu}>
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
                rightSection={one.id === workspaceId && <IconCheck size={16} />}
                onClick={() => void navigate({ to: '/w/$workspaceId/home', params: { workspaceId: one.id } })}
              >
                {one.name}
              </Menu.Item>
            ))}
          </>
        )}
        <Menu.Divider />
        {setup.map((room) => (
          <SetupItem key={room.path} workspaceId={workspaceId} room={room} />
        ))}
        {setup.length > 0 && <Menu.Divider />}
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
          <Menu.Item
            key={one}
            rightSection={one === language && <IconCheck size={16} />}
            onClick={() => chooseLanguage(one)}
          >
            {languages[one]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconKeyboard size={16} />} rightSection={<kbd>?</kbd>} onClick={openKeys}>
          {t.common.keys.open}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
          {t.common.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function SetupItem({ workspaceId, room: { path, title, icon: Icon } }: { workspaceId: string; room: Room }) {
  const navigate = useNavigate()
  const badge = useRailBadge(path)
  return (
    <Menu.Item
      leftSection={<Icon size={16} />}
      rightSection={badge !== null && <span className={styles.trouble}>{badge.label}</span>}
      onClick={() => void navigate({ to: `/w/${workspaceId}/${path}` })}
    >
      {title()}
    </Menu.Item>
  )
}

function AppearanceItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <Menu.Label>{t.common.appearance}</Menu.Label>
      {(['light', 'dark', 'auto'] as const).map((one) => (
        <Menu.Item
          key={one}
          rightSection={one === colorScheme && <IconCheck size={16} />}
          onClick={() => setColorScheme(one)}
        >
          {t.common.appearances[one]}
        </Menu.Item>
      ))}
    </>
  )
}

// A bot of discordgo that does what bots do, step by step; each step is a line of TAP.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

const wait = 10 * time.Second

var number, failed int

// step runs one step and prints whether it went well.
func step(name string, work func() error) {
	number++
	if err := work(); err != nil {
		failed++
		fmt.Printf("not ok %d - %s: %v\n", number, name, strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	fmt.Printf("ok %d - %s\n", number, name)
}

// point tells discordgo of the server, as docs/compatibility.md says.
func point(url string) {
	api := url + "/api/v" + discordgo.APIVersion + "/"
	cdn := url + "/"
	discordgo.EndpointDiscord = cdn
	discordgo.EndpointAPI = api
	discordgo.EndpointGuilds = api + "guilds/"
	discordgo.EndpointChannels = api + "channels/"
	discordgo.EndpointUsers = api + "users/"
	discordgo.EndpointGateway = api + "gateway"
	discordgo.EndpointGatewayBot = api + "gateway/bot"
	discordgo.EndpointWebhooks = api + "webhooks/"
	discordgo.EndpointStickers = api + "stickers/"
	discordgo.EndpointStageInstances = api + "stage-instances"
	discordgo.EndpointVoice = api + "/voice/"
	discordgo.EndpointVoiceRegions = api + "/voice/regions"
	discordgo.EndpointGuildCreate = api + "guilds"
	discordgo.EndpointApplications = api + "applications"
	discordgo.EndpointOAuth2 = api + "oauth2/"
	discordgo.EndpointCDN = cdn
	discordgo.EndpointCDNAttachments = cdn + "attachments/"
	discordgo.EndpointCDNAvatars = cdn + "avatars/"
	discordgo.EndpointCDNIcons = cdn + "icons/"
	discordgo.EndpointCDNGuilds = cdn + "guilds/"
}

// says sends a message as the person.
func says(url, channel, content string) error {
	body := bytes.NewBufferString(fmt.Sprintf(`{"content":%q}`, content))
	request, err := http.NewRequest("POST", url+"/api/v10/channels/"+channel+"/messages", body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", os.Getenv("PERSON_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}

func main() {
	url, guild, channel := os.Getenv("MOOTHALL_URL"), os.Getenv("GUILD_ID"), os.Getenv("CHANNEL_ID")
	point(url)
	s, err := discordgo.New("Bot " + os.Getenv("BOT_TOKEN"))
	if err != nil {
		panic(err)
	}
	s.Identify.Intents = discordgo.IntentsAll
	ready := make(chan *discordgo.Ready, 9)
	guilds := make(chan *discordgo.GuildCreate, 9)
	messages := make(chan *discordgo.MessageCreate, 99)
	chunks := make(chan *discordgo.GuildMembersChunk, 9)
	reactions := make(chan *discordgo.MessageReactionAdd, 9)
	voice := make(chan *discordgo.VoiceStateUpdate, 9)
	resumed := make(chan *discordgo.Resumed, 9)
	s.AddHandler(func(_ *discordgo.Session, event *discordgo.Ready) { ready <- event })
	s.AddHandler(func(_ *discordgo.Session, event *discordgo.GuildCreate) { guilds <- event })
	s.AddHandler(func(_ *discordgo.Session, event *discordgo.MessageCreate) { messages <- event })
	s.AddHandler(func(_ *discordgo.Session, event *discordgo.GuildMembersChunk) { chunks <- event })
	s.AddHandler(func(_ *discordgo.Session, event *discordgo.MessageReactionAdd) { reactions <- event })
	s.AddHandler(func(_ *discordgo.Session, event *discordgo.VoiceStateUpdate) { voice <- event })
	s.AddHandler(func(_ *discordgo.Session, event *discordgo.Resumed) { resumed <- event })
	late := errors.New("no event within ten seconds")

	step("the gateway's address", func() error { _, err := s.GatewayBot(); return err })
	step("the session opens with the presence that it sends by default", func() error { return s.Open() })
	step("READY", func() error {
		select {
		case event := <-ready:
			if event.User == nil || event.User.ID == "" {
				return errors.New("no user")
			}
			return nil
		case <-time.After(wait):
			return late
		}
	})
	step("GUILD_CREATE with its channels and roles", func() error {
		select {
		case event := <-guilds:
			if event.ID != guild || len(event.Channels) == 0 || len(event.Roles) == 0 {
				return fmt.Errorf("guild %s, %d channels, %d roles", event.ID, len(event.Channels), len(event.Roles))
			}
			return nil
		case <-time.After(wait):
			return late
		}
	})
	step("the content of a message of somebody else", func() error {
		if err := says(url, channel, "hello gopher"); err != nil {
			return err
		}
		for {
			select {
			case event := <-messages:
				if event.Content == "hello gopher" && event.GuildID == guild && event.Member != nil {
					return nil
				}
			case <-time.After(wait):
				return late
			}
		}
	})
	var sent *discordgo.Message
	step("a message", func() (err error) { sent, err = s.ChannelMessageSend(channel, "one"); return })
	if sent == nil {
		fmt.Printf("1..%d\n", number)
		os.Exit(1)
	}
	step("an embed without a timestamp", func() error {
		_, err := s.ChannelMessageSendEmbed(channel, &discordgo.MessageEmbed{Title: "News", Description: "Bread"})
		return err
	})
	step("a file", func() error {
		message, err := s.ChannelMessageSendComplex(channel, &discordgo.MessageSend{
			Content: "file",
			Files:   []*discordgo.File{{Name: "a.txt", ContentType: "text/plain", Reader: strings.NewReader("bread")}},
		})
		if err == nil && (len(message.Attachments) != 1 || message.Attachments[0].Size != 5) {
			return errors.New("no attachment")
		}
		return err
	})
	step("components", func() error {
		_, err := s.ChannelMessageSendComplex(channel, &discordgo.MessageSend{
			Content: "button",
			Components: []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
				discordgo.Button{Label: "Press", Style: discordgo.PrimaryButton, CustomID: "press"},
			}}},
		})
		return err
	})
	step("a reply", func() error { _, err := s.ChannelMessageSendReply(channel, "re", sent.Reference()); return err })
	step("an edit", func() error { _, err := s.ChannelMessageEdit(channel, sent.ID, "one and a half"); return err })
	step("a reaction and its event", func() error {
		if err := s.MessageReactionAdd(channel, sent.ID, "👍"); err != nil {
			return err
		}
		select {
		case event := <-reactions:
			if event.Emoji.Name != "👍" {
				return errors.New(event.Emoji.Name)
			}
			return nil
		case <-time.After(wait):
			return late
		}
	})
	step("who reacted", func() error {
		users, err := s.MessageReactions(channel, sent.ID, "👍", 10, "", "")
		if err == nil && len(users) != 1 {
			return fmt.Errorf("%d users", len(users))
		}
		return err
	})
	step("a reaction removed", func() error { return s.MessageReactionRemove(channel, sent.ID, "👍", "@me") })
	step("a pin", func() error { return s.ChannelMessagePin(channel, sent.ID) })
	step("the pins", func() error {
		pins, err := s.ChannelMessagesPinned(channel)
		if err == nil && len(pins) != 1 {
			return fmt.Errorf("%d pins", len(pins))
		}
		return err
	})
	step("a pin removed", func() error { return s.ChannelMessageUnpin(channel, sent.ID) })
	step("typing", func() error { return s.ChannelTyping(channel) })
	step("messages listed and deleted at once", func() error {
		listed, err := s.ChannelMessages(channel, 3, "", "", "")
		if err != nil {
			return err
		}
		var ids []string
		for _, message := range listed {
			ids = append(ids, message.ID)
		}
		return s.ChannelMessagesBulkDelete(channel, ids)
	})
	var made *discordgo.Channel
	step("a channel", func() (err error) {
		made, err = s.GuildChannelCreate(guild, "gophers", discordgo.ChannelTypeGuildText)
		return
	})
	step("the channel's topic", func() error {
		_, err := s.ChannelEdit(made.ID, &discordgo.ChannelEdit{Topic: "burrows"})
		return err
	})
	step("an overwrite", func() error {
		return s.ChannelPermissionSet(made.ID, guild, discordgo.PermissionOverwriteTypeRole, 0, discordgo.PermissionSendMessages)
	})
	step("a thread with a message", func() error {
		thread, err := s.ThreadStart(made.ID, "digging", discordgo.ChannelTypeGuildPublicThread, 60)
		if err != nil {
			return err
		}
		_, err = s.ChannelMessageSend(thread.ID, "deeper")
		return err
	})
	step("the active threads", func() error {
		threads, err := s.GuildThreadsActive(guild)
		if err == nil && len(threads.Threads) != 1 {
			return fmt.Errorf("%d threads", len(threads.Threads))
		}
		return err
	})
	step("a role added and removed", func() error {
		role, err := s.GuildRoleCreate(guild, &discordgo.RoleParams{Name: "Diggers"})
		if err != nil {
			return err
		}
		if err := s.GuildMemberRoleAdd(guild, os.Getenv("PERSON_ID"), role.ID); err != nil {
			return err
		}
		return s.GuildRoleDelete(guild, role.ID)
	})
	var hook *discordgo.Webhook
	step("a webhook with the name of a bridge", func() (err error) {
		hook, err = s.WebhookCreate(channel, "irc#1: @relay `x`", "")
		return
	})
	step("a webhook's message with a name and an avatar of its own", func() error {
		message, err := s.WebhookExecute(hook.ID, hook.Token, true, &discordgo.WebhookParams{
			Content: "from afar", Username: "ann@irc", AvatarURL: "https://example.org/ann.png",
		})
		if err == nil && (len(message.Author.Avatar) != 32 || message.Author.Username != "ann@irc") {
			return errors.New(message.Author.Avatar)
		}
		return err
	})
	step("an invite", func() error {
		invite, err := s.ChannelInviteCreate(channel, discordgo.Invite{MaxAge: 60})
		if err != nil {
			return err
		}
		_, err = s.Invite(invite.Code)
		return err
	})
	command := &discordgo.ApplicationCommand{Name: "dig", Description: "Digs", Options: []*discordgo.ApplicationCommandOption{
		{Type: discordgo.ApplicationCommandOptionString, Name: "where", Description: "Where to dig"},
	}}
	step("a command", func() error {
		_, err := s.ApplicationCommandCreate(s.State.User.ID, guild, command)
		return err
	})
	step("all commands at once", func() error {
		_, err := s.ApplicationCommandBulkOverwrite(s.State.User.ID, guild, []*discordgo.ApplicationCommand{command})
		return err
	})
	step("a game", func() error { return s.UpdateGameStatus(0, "digging") })
	step("a presence without a status", func() error {
		return s.UpdateStatusComplex(discordgo.UpdateStatusData{Activities: []*discordgo.Activity{{Name: "x"}}})
	})
	step("a chunk of members", func() error {
		if err := s.RequestGuildMembers(guild, "", 0, "n", true); err != nil {
			return err
		}
		select {
		case chunk := <-chunks:
			if len(chunk.Members) < 2 {
				return fmt.Errorf("%d members", len(chunk.Members))
			}
			return nil
		case <-time.After(wait):
			return late
		}
	})
	step("the members", func() error { _, err := s.GuildMembers(guild, "", 100); return err })
	step("the audit log", func() error { _, err := s.GuildAuditLog(guild, "", "", 0, 10); return err })
	step("the regions, whose path has two slashes", func() error { _, err := s.VoiceRegions(); return err })
	step("an event", func() error {
		start, end := time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		_, err := s.GuildScheduledEventCreate(guild, &discordgo.GuildScheduledEventParams{
			Name: "Dig", ScheduledStartTime: &start, ScheduledEndTime: &end,
			EntityType:     discordgo.GuildScheduledEventEntityTypeExternal,
			EntityMetadata: &discordgo.GuildScheduledEventEntityMetadata{Location: "The field"},
			PrivacyLevel:   discordgo.GuildScheduledEventPrivacyLevelGuildOnly,
		})
		return err
	})
	step("a voice channel joined and left", func() error {
		room, err := s.GuildChannelCreate(guild, "burrow", discordgo.ChannelTypeGuildVoice)
		if err != nil {
			return err
		}
		if err := s.ChannelVoiceJoinManual(guild, room.ID, true, true); err != nil {
			return err
		}
		select {
		case event := <-voice:
			if event.ChannelID != room.ID {
				return errors.New(event.ChannelID)
			}
		case <-time.After(wait):
			return late
		}
		return s.ChannelVoiceJoinManual(guild, "", true, true)
	})
	step("a session that is resumed", func() error {
		if err := s.CloseWithCode(4000); err != nil {
			return err
		}
		if err := says(url, channel, "missed"); err != nil {
			return err
		}
		if err := s.Open(); err != nil {
			return err
		}
		select {
		case <-resumed:
		case <-time.After(wait):
			return late
		}
		for {
			select {
			case event := <-messages:
				if event.Content == "missed" {
					return nil
				}
			case <-time.After(wait):
				return errors.New("the message that was missed did not come")
			}
		}
	})
	step("the end", func() error { return s.Close() })
	fmt.Printf("1..%d\n", number)
	if failed > 0 {
		os.Exit(1)
	}
}

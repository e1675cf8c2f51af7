package org.acme.plugin;

import com.jcraft.jsch.ChannelExec;
import hudson.FilePath;
import hudson.Launcher;
import hudson.model.Run;
import hudson.model.TaskListener;
import hudson.tasks.Builder;
import hudson.util.ArgumentListBuilder;
import jenkins.tasks.SimpleBuildStep;
import org.kohsuke.stapler.DataBoundConstructor;
import org.kohsuke.stapler.QueryParameter;

// A step of a build whose settings come from a form.
public class Plugin extends Builder implements SimpleBuildStep {
  private final String tool;

  @DataBoundConstructor
  public Plugin(String tool) {
    this.tool = tool;
  }

  @Override
  public void perform(Run<?, ?> run, FilePath workspace, Launcher launcher, TaskListener listener) throws Exception {
    // ruleid: command-injection
    launcher.launch().cmds(tool, "--version").pwd(workspace).join();
    ArgumentListBuilder args = new ArgumentListBuilder();
    args.add("tool");
    args.add("--version");
    // ok: command-injection
    launcher.launch().cmds(args).join();
  }

  public void doCheckTool(@QueryParameter String value, ChannelExec channel) throws Exception {
    // ruleid: command-injection
    Runtime.getRuntime().exec("which " + value);
    // ruleid: command-injection
    channel.setCommand("which " + value);
    // ok: command-injection
    channel.setCommand("which tool");
  }
}

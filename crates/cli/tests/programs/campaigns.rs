//! Runs campaigns of the programs in `tests/campaign`: unsharded, in shards, killed, by two writers at once. They must all end with the
//! same rows, and what is damaged must be named and run again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::build::Toolchain;
use crate::header::{Header, Variant};
use crate::run::Installation;

const SHARDS: u64 = 8;
/// `scripts/campaign-study kills` does it a hundred times.
const KILLS: u32 = 3;

/// A directory which removes itself.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs the campaigns of a program.
pub(crate) fn check(toolchain: &Toolchain, source: &Path) -> Result<()> {
    let header = Header::parse("")?;
    let program = toolchain.build(source, &header, Variant::Lines).context("building the program")?.program;
    let scratch = Scratch(std::env::temp_dir().join(format!("warpgrind-campaigns-{}", std::process::id())));
    fs::create_dir_all(&scratch.0)?;
    let [manifest, whole, sharded, killed] = ["m.json", "whole", "sharded", "killed"].map(|name| scratch.0.join(name));
    let mut campaigns = Campaigns { installation: Installation::make()?, manifest: manifest.clone() };
    let mut plan = campaigns.command("plan");
    plan.args(["--model", "single-bit,warp-wide", "--with", "none,rmt:pair", "--trials", "40", "--part", "20"]);
    plan.args(["--seed", "1", "-o"]).arg(&manifest).arg("--").arg(&program);
    succeeds(&mut plan)?;
    let since = Instant::now();
    succeeds(&mut campaigns.shard(&whole, 1, 1))?;
    let took = since.elapsed();
    let rows = rows(&whole)?;
    ensure!(rows.len() == 2 * 2 * 2 * 40, "{} rows", rows.len());
    let is_good = |out: &Path| -> Result<()> {
        let output = campaigns.checked(out)?;
        ensure!(output.status.success(), "{}", text(&output));
        ensure!(self::rows(out)? == rows, "{} has other rows", out.display());
        ensure!(campaigns.report(out)? == campaigns.report(&whole)?, "{} has another report", out.display());
        Ok(())
    };
    is_good(&whole)?;

    for number in (1..=SHARDS).rev() {
        // Two writers of one shard.
        let mut other = (number == 3)
            .then(|| campaigns.shard(&sharded, number, SHARDS).stderr(Stdio::null()).spawn())
            .transpose()?;
        succeeds(&mut campaigns.shard(&sharded, number, SHARDS))?;
        if let Some(other) = &mut other {
            ensure!(other.wait()?.success(), "the second writer failed");
        }
    }
    is_good(&sharded).context("in shards")?;

    for round in 1..=KILLS {
        let mut run = campaigns.shard(&killed, 1, 1).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(took * round / (KILLS + 2));
        run.kill()?;
        run.wait()?;
    }
    succeeds(&mut campaigns.shard(&killed, 1, 1))?;
    is_good(&killed).context("killed")?;

    let parts = fs::read_dir(killed.join("parts"))?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let part = parts.first().context("there are parts")?;
    let bytes = fs::read(part)?;
    fs::write(part, &bytes[..bytes.len() / 2])?;
    let output = campaigns.checked(&killed)?;
    ensure!(output.status.code() == Some(1) && text(&output).contains("damaged: part-"), "{}", text(&output));
    succeeds(&mut campaigns.shard(&killed, 1, 1))?;
    is_good(&killed).context("after a part was truncated")?;

    // A file that cannot grow, as on a disk that is full: what is finished stays, and the rest is named.
    let full = scratch.0.join("full");
    fs::create_dir_all(full.join("parts"))?;
    fs::copy(&manifest, full.join("manifest.json"))?;
    let mut limited = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$@\"";
    let run = campaigns.shard(&full, 1, 1);
    limited.args(["-c", script, "sh"]).arg(run.get_program()).args(run.get_args());
    let output = limited.output()?;
    ensure!(!output.status.success(), "a file that cannot grow is not noticed");
    let output = campaigns.checked(&full)?;
    ensure!(output.status.code() == Some(1) && text(&output).contains("missing: rows"), "{}", text(&output));

    // Another program is not tried as if it were this one.
    let text_of_manifest = fs::read_to_string(&manifest)?;
    let other = scratch.0.join("other.json");
    let hash = text_of_manifest.split("\"hash\": \"").nth(1).context("a hash")?[..64].to_owned();
    fs::write(&other, text_of_manifest.replacen(&hash, &"0".repeat(64), 1))?;
    campaigns.manifest = other;
    let output = campaigns.shard(&scratch.0.join("others"), 1, 1).output()?;
    ensure!(output.status.code() == Some(2) && text(&output).contains("plan it again"), "{}", text(&output));
    for launcher in ["slurm", "parallel"] {
        let mut emit = campaigns.command("emit");
        let output = emit
            .arg(launcher)
            .arg("--manifest")
            .arg(&manifest)
            .args(["--shards", "8", "--out"])
            .arg(&whole)
            .output()?;
        let script = scratch.0.join(launcher);
        fs::write(&script, &output.stdout)?;
        succeeds(Command::new("sh").arg("-n").arg(&script)).with_context(|| format!("the file for {launcher}"))?;
    }
    Ok(())
}

/// The command, and what is run by it.
struct Campaigns {
    installation: Installation,
    manifest: PathBuf,
}

impl Campaigns {
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.installation.file("bin/warpgrind"));
        command.args(["campaign", name]);
        command
    }

    fn shard(&self, out: &Path, number: u64, of: u64) -> Command {
        let mut command = self.command("run");
        command.arg("--manifest").arg(&self.manifest).args(["--shard", &format!("{number}/{of}"), "--out"]).arg(out);
        command
    }

    fn checked(&self, out: &Path) -> Result<Output> {
        self.command("check").arg("--out").arg(out).output().context("starting the command")
    }

    fn report(&self, out: &Path) -> Result<String> {
        let output = self.command("report").arg("--json").arg("--out").arg(out).output()?;
        ensure!(output.status.success() && !output.stdout.is_empty(), "{}", text(&output));
        Ok(String::from_utf8(output.stdout)?)
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn succeeds(command: &mut Command) -> Result<()> {
    let output = command.output().context("starting the command")?;
    ensure!(output.status.success(), "{command:?}: {}: {}", output.status, text(&output));
    Ok(())
}

fn rows(out: &Path) -> Result<Vec<campaign::Row>> {
    let (store, manifest) = campaign::Store::open(out)?;
    let mut rows = Vec::new();
    for stored in store.list()? {
        if let campaign::Stored::Part { path, .. } = stored {
            rows.extend(campaign::decode(fs::read(path)?, manifest.part)?);
        }
    }
    rows.sort();
    Ok(rows)
}

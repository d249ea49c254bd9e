# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster of two virtual hosts on this machine, for as long as a test needs it."""

import os
import shutil
import socket
import subprocess
import tempfile
import time

from launcher import wait_until

CONFIGURATION = """\
ClusterName=shoal
SlurmctldHost={name}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmctldPort={ports[0]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdSpoolDir={folder}/spool.%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/slurmd.%n.log
TmpFS={folder}/tmp.%n
KillWait=2
NodeName=n0 NodeHostname={name} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus} State=UNKNOWN
NodeName=n1 NodeHostname={name} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus} State=UNKNOWN
PartitionName=p Nodes=n[0-1] Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""
PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "srun")


def what_is_missing():
    """Why there can be no cluster here, or None."""
    if os.geteuid() != 0:
        return "only root can start the daemons of a Slurm cluster"
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    return f"not installed: {', '.join(missing)}" if missing else None


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """`environment` makes srun and scancel use it."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="shoal-slurm-")
        self.daemons = []
        self.environment = dict(os.environ, SLURM_CONF=f"{self.folder}/slurm.conf")
        try:
            self.open()
        except BaseException:
            self.close()
            raise

    def open(self):
        for name in ("state", "spool.n0", "spool.n1", "tmp.n0", "tmp.n1"):
            os.mkdir(os.path.join(self.folder, name))
        text = CONFIGURATION.format(
            folder=self.folder, name=socket.gethostname(), cpus=os.cpu_count(),
            ports=free_ports(3))
        with open(f"{self.folder}/slurm.conf", "w") as file:
            file.write(text)
        subprocess.run(["mungekey", "--create", f"--keyfile={self.folder}/munge.key"], check=True)
        self.start("munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                   f"--seed-file={self.folder}/munge.seed", f"--log-file={self.folder}/munged.log")
        wait_until(lambda: os.path.exists(f"{self.folder}/munge.socket"), "munged listens")
        self.start("slurmctld", "-D")
        for node in ("n0", "n1"):
            self.start("slurmd", "-D", "-N", node)
        wait_until(self.ready, "both nodes are idle")

    def start(self, *command):
        with open(os.path.join(self.folder, "daemons.log"), "a") as log:
            self.daemons.append(subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def ready(self):
        for daemon in self.daemons:
            if daemon.poll() is not None:
                with open(os.path.join(self.folder, "daemons.log")) as log:
                    raise AssertionError(f"{daemon.args} ended: {log.read()[-2000:]}")
        states = subprocess.run(["sinfo", "-h", "-o", "%D %t"], env=self.environment,
                                capture_output=True, text=True).stdout
        return states.strip() == "2 idle"

    def close(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    began = time.monotonic()
    cluster = Cluster()
    print(f"up after {time.monotonic() - began:.1f} s")
    try:
        subprocess.run(["bash"], env=cluster.environment)
    finally:
        cluster.close()

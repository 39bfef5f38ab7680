/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A TCP of ns-3 over a line with a queue, for test/sim/ns3.py: prints the bytes that arrived and the
 * packets that the queue dropped.
 *
 *   ns3_tcp VARIETY RATE_BPS DELAY_S QUEUE_PKTS LOSS SECONDS SEED
 */

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace
{

struct Settings
{
	std::string variety;
	uint64_t rate_bps;
	double delay_s;
	uint32_t queue_pkts;
	double loss;
	double seconds;
	uint32_t seed;
};

constexpr uint32_t PAYLOAD_BYTES = 1000;
constexpr uint32_t BUFFER_BYTES = 64 << 20;
constexpr uint16_t PORT = 9;

void choose_tcp(const Settings &settings)
{
	Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + settings.variety));
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD_BYTES));
	Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
	Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER_BYTES));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER_BYTES));
	Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

NetDeviceContainer make_line(const NodeContainer &ends, const Settings &settings)
{
	PointToPointHelper line;

	line.SetDeviceAttribute("DataRate", DataRateValue(DataRate(settings.rate_bps)));
	line.SetChannelAttribute("Delay", TimeValue(Seconds(settings.delay_s)));
	line.SetQueue("ns3::DropTailQueue", "MaxSize",
		QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, settings.queue_pkts)));
	return line.Install(ends);
}

void lose(const NetDeviceContainer &devices, double share)
{
	for (uint32_t i = 0; i < devices.GetN(); i++) {
		Ptr<RateErrorModel> loss = CreateObject<RateErrorModel>();

		loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
		loss->SetRate(share);
		devices.Get(i)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
	}
}

uint64_t dropped_pkts;

void count_drop(Ptr<const Packet>)
{
	dropped_pkts++;
}

uint64_t run(const Settings &settings)
{
	NodeContainer ends(2);
	NetDeviceContainer devices = make_line(ends, settings);
	Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
	TrafficControlHelper queueing;

	lose(devices, settings.loss);
	InternetStackHelper().Install(ends);
	Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
	queueing.Uninstall(devices); /* the device's queue is the only one */
	/* The layer above the device keeps what the device has no room for, and drops it. */
	ends.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
		"TcDrop", MakeCallback(&count_drop));

	BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), PORT));
	PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
	ApplicationContainer sinks = sink.Install(ends.Get(1));

	source.SetAttribute("SendSize", UintegerValue(PAYLOAD_BYTES));
	source.Install(ends.Get(0)).Start(Seconds(0));
	sinks.Start(Seconds(0));
	Simulator::Stop(Seconds(settings.seconds));
	Simulator::Run();
	return DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 8) {
		std::cerr << "ns3_tcp: VARIETY RATE_BPS DELAY_S QUEUE_PKTS LOSS SECONDS SEED\n";
		return 2;
	}

	Settings settings{argv[1], std::strtoull(argv[2], nullptr, 10), std::atof(argv[3]),
		static_cast<uint32_t>(std::atoi(argv[4])), std::atof(argv[5]), std::atof(argv[6]),
		static_cast<uint32_t>(std::atoi(argv[7]))};

	RngSeedManager::SetSeed(settings.seed);
	choose_tcp(settings);
	std::cout << run(settings);
	std::cout << ' ' << dropped_pkts << '\n';
	Simulator::Destroy();
	return 0;
}
